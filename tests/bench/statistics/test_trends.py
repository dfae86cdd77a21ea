"""What goes on growing is no plateau, whoever tells of one; what does not is one."""

import itertools
import random
from collections.abc import Callable, Sequence

import pytest

from apps.bench.curve import read_curve
from apps.bench.curve.form import CurveForm
from apps.bench.rules.base import Evidence
from apps.bench.rules.shapes.curves import Curve
from apps.bench.rules.shapes.forms import SATURATES, trend_of
from apps.bench.rules.tcp import held, sweeps
from apps.bench.statistics import still_rises
from tests.bench.rules.cases import Maker

COUNTS = (1, 2, 4, 8, 16, 32, 64)
Groups = Sequence[Sequence[float]]


def figures(rates: Sequence[float], n: int, scatter: float, seed: int) -> list[list[float]]:
    drawn = random.Random(seed)
    return [[rate * 8e6 * (1 + drawn.gauss(0, scatter)) for _ in range(n)] for rate in rates]


def _form(groups: Groups) -> bool:
    return read_curve(COUNTS, groups).form is CurveForm.LEVELS_OFF


def _shape(groups: Groups) -> bool:
    cells = {x: dict(enumerate(group, 100 * x)) for x, group in zip(COUNTS, groups, strict=True)}
    trend = trend_of(Curve("iperf3-tcp", "goodput", "streams", cells))
    return trend is not None and trend.shape == SATURATES


def _evidence(groups: Groups) -> Evidence:
    make = Maker()
    return Evidence(tuple(make.tcp(list(group), streams=count) for count, group in zip(COUNTS, groups, strict=True)))


def _capacity(groups: Groups) -> bool:
    return held.plateau_of(_evidence(groups)) is not None


def _enough(groups: Groups) -> bool:
    evidence = _evidence(groups)
    [sweep, *_others] = sweeps.find_sweeps(sweeps.tcp_points(evidence), "streams")
    return bool(sweeps.level_of(sweep.cells, sweeps.scatter_of(evidence), 0.03))


READERS: list[Callable[[Groups], bool]] = [_form, _shape, _capacity, _enough]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("growth", "n"), list(itertools.product((1.022, 1.03, 1.04), (3, 5, 10))))
def test_what_grows_by_as_much_with_each_step_levels_off_for_nobody(
    reader: Callable[[Groups], bool], growth: float, n: int
) -> None:
    rates = [50, 80, 97, *(97 * growth**step for step in range(1, 5))]
    hits = sum(reader(figures(rates, n, 0.003, seed)) for seed in range(40))
    assert hits <= 2


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("n", [3, 5, 10])
def test_what_does_not_grow_levels_off_as_before(reader: Callable[[Groups], bool], n: int) -> None:
    rates = [25, 50, 100, 100, 100, 100, 100]
    hits = sum(reader(figures(rates, n, 0.003, seed)) for seed in range(40))
    assert hits >= 36


def test_what_bends_into_a_plateau_levels_off_where_it_no_longer_grows() -> None:
    curve = read_curve(COUNTS, figures([50, 80, 97, 100, 101, 101, 101], 5, 0.003, 1))
    assert curve.form is CurveForm.LEVELS_OFF
    assert curve.start is not None and curve.start >= 2


def test_noise_is_taken_for_a_rise_as_seldom_as_is_said() -> None:
    hits = sum(still_rises(figures([100] * 4, 5, 0.05, seed)) for seed in range(2000))
    assert hits <= 35
    assert not still_rises([[1.0], [1.1], [1.2]])
    assert not still_rises([[100, 101, 102], [101, 102, 103]])
    assert still_rises([[100, 100], [105, 105]])
