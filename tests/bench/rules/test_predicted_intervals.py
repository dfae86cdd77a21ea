"""The interval beside a prediction is the table's own, holds as often as is said, and ends where nothing can be."""

import random

import pytest

from apps.bench import network, statistics
from apps.bench.rules import folding, of_ends
from apps.bench.rules.base import Evidence
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.shapes.curves import Curve, interval_at
from tests.bench.rules.cases import LINKS, Maker

SETTINGS = ((20.0, 120.0), (20.0, 60.0, 100.0, 120.0), (5.0, 20.0, 60.0, 100.0, 120.0, 121.0))


def curve_of(settings: tuple[float, ...], n: int, scatter: float, source: random.Random) -> Curve:
    """Return rates whose scatter goes with them."""
    cells = {
        place: {1000 * place + k: mean * source.gauss(1, scatter) for k in range(n)}
        for place, mean in enumerate(settings)
    }
    return Curve("iozone", "read", "record_size", cells)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("scatter", [0.01, 0.1])
@pytest.mark.parametrize("n", [2, 3, 5, 30])
def test_it_holds_the_mean_in_95_of_100(settings: tuple[float, ...], scatter: float, n: int) -> None:
    source, runs, hits = random.Random(7), 400, 0
    for _run in range(runs):
        low, high = interval_at(curve_of(settings, n, scatter, source), len(settings) - 1)
        hits += low <= settings[-1] <= high
    # Three errors of so many runs below 95.
    assert hits / runs >= 0.917


@pytest.mark.parametrize("n", [2, 3, 10])
def test_it_is_that_of_the_table_cut_at_what_can_be(n: int) -> None:
    curve = curve_of(SETTINGS[1], n, 0.002, random.Random(3))
    figures = [*curve.cells[3].values()]
    table = statistics.summarise(figures)
    assert interval_at(curve, 3) == (table.ci_low, table.ci_high)
    ceiling = max(figures)
    assert interval_at(curve, 3, ceiling) == (table.ci_low, min(ceiling, table.ci_high or ceiling))
    # A limit just below what was measured is where the highest figure is; one far below is wrong.
    assert interval_at(curve, 3, min(figures)) == (table.ci_low, min(ceiling, table.ci_high or ceiling))
    assert interval_at(curve, 3, min(figures) / 1.1) == (table.ci_low, table.ci_high)


def test_equal_figures_and_lone_ones_are_not_known_for_sure() -> None:
    equal = Curve(
        "iozone", "read", "record_size", {0: {1: 20.0, 2: 21.0, 3: 20.5}, 1: {4: 120.0, 5: 120.0, 6: 120.0}}
    )
    lone = Curve("iozone", "read", "record_size", {0: {1: 20.0}, 1: {2: 120.0}})
    for curve in (equal, lone):
        low, high = interval_at(curve, 1)
        assert low < 120.0 < high


@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("seed", range(12))
def test_no_prediction_of_the_path_exceeds_what_it_carries(streams: int, seed: int) -> None:
    make, source = Maker(), random.Random(seed)
    ceiling = network.tcp_ceiling_bps(LINKS.capacity_bps, LINKS.mtu or 9000)
    assert ceiling
    rates = (100e6, 400e6, 0.985 * ceiling, 0.99 * ceiling)
    points = [
        make.tcp(
            [min(ceiling, rate * source.gauss(1, 0.01)) for _ in range(3)], window=2**16 * 4**place, streams=streams
        )
        for place, rate in enumerate(rates)
    ]
    drafts = conclude_all(of_ends(), Evidence((*points, make.ping(0.0048)), LINKS))
    predictions = [draft for draft in drafts if draft.predicted_interval and draft.predicted_unit == "bit/s"]
    for draft in predictions:
        assert draft.predicted_interval
        assert draft.predicted_interval[1] <= ceiling * (1 + 1e-9) or (draft.predicted or 0.0) > ceiling


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_no_prediction_reaches_beyond_the_path_where_figures_lie_just_above_it(n: int, seed: int) -> None:
    make, source = Maker(), random.Random(seed)
    ceiling = network.tcp_ceiling_bps(LINKS.capacity_bps, LINKS.mtu or 9000)
    assert ceiling
    rates = {0: 1.02 * ceiling, 2**17: 0.25 * ceiling, 2**19: 0.9 * ceiling, 2**21: 1.01 * ceiling}
    points = [
        make.tcp([rate * source.gauss(1, 0.01) for _ in range(n)], window=window, observed=1e6)
        for window, rate in rates.items()
    ]
    points += [
        make.tcp([rate * ceiling * source.gauss(1, 0.01) for _ in range(n)], window=2**17, streams=streams)
        for streams, rate in ((2, 0.5), (4, 1.0), (8, 1.02))
    ]
    highest = max(value for point in points for value in point.values("goodput"))
    evidence = Evidence((*points, make.ping(0.0048)), LINKS)
    drafts = folding.fold_ends(conclude_all(of_ends(), evidence), evidence)
    intervals = [draft.predicted_interval for draft in drafts if draft.predicted_interval and draft.predicted]
    assert intervals
    assert max(high for _low, high in intervals) <= max(ceiling, highest) * (1 + 1e-9)
