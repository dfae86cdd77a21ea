"""UDP loss against offered load: curves of known knee, recorded ones, and the published one."""

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import tools
from apps.bench.network import loss_curve
from apps.bench.network.full_links import PLATEAU
from apps.bench.network.loads import LoadPoint
from tests.bench.tools import recordings

UDP = tools.get("iperf3-udp")
RATES = [100e6, 200e6, 300e6, 400e6, 450e6, 500e6, 600e6, 800e6]


def fluid(capacity, rates=RATES, pieces=1.0):
    """Return the points of a link of a capacity, on which a datagram needs all of its pieces."""
    return [LoadPoint(rate, 1 - min(1.0, capacity / rate) ** pieces) for rate in rates]


def said(curve):
    return " ".join(str(message) for message in curve.conclusions)


def test_the_knee_of_a_full_link_is_its_capacity():
    curve = loss_curve.analyse(fluid(437e6))
    assert curve.whole == 400e6
    assert curve.lossy == 450e6
    assert curve.knee.at == pytest.approx(437e6, rel=0.005)
    assert curve.full == pytest.approx(437e6, rel=1e-6)
    assert curve.exponent == pytest.approx(1, abs=0.01)
    assert curve.plateau == pytest.approx(437e6, rel=1e-6)
    assert curve.worst is None
    assert "of more 437.0 Mbit/s arrive: so much one flow" in said(curve)
    assert "simply full" in said(curve)
    assert "The knee lies at 437" in said(curve)


def read(name, **params):
    params = UDP.clean({"duration": 5, "omit": 0, **params})
    reading = UDP.parse([recordings.load("iperf3-udp", name)], params)
    figures = (reading.value(metric) for metric in ("offered_load", "loss", "jitter", "goodput"))
    return LoadPoint(*figures)


def test_the_recorded_series_has_the_capacity_of_its_link():
    rates = (100, 400, 430, 450, 457, 500)
    curve = loss_curve.analyse([read(f"b{rate}M.json", rate=f"{rate} Mbit/s") for rate in rates])
    # Of 457 Mbit/s on the line datagrams of 1448 B leave 437 for payload.
    assert curve.whole == pytest.approx(430e6, rel=1e-3)
    assert curve.lossy == pytest.approx(450e6, rel=1e-3)
    assert curve.knee.at == pytest.approx(437e6, rel=0.01)
    assert [curve.excess(point) for point in curve.points[-3:]] == pytest.approx([1, 1, 1], abs=0.15)
    assert curve.worst is None
    assert all(point.jitter < 1e-4 for point in curve.points)


def test_a_published_series_lost_more_than_a_full_link_explains():
    # KNU to Caltech: nothing at 400 Mbit/s, 30 % at 450, 80 % at 622.
    curve = loss_curve.analyse([LoadPoint(400e6, 0.0), LoadPoint(450e6, 0.30), LoadPoint(622e6, 0.80)])
    assert curve.whole == curve.full == 400e6
    assert curve.fluid_loss(450e6) == pytest.approx(0.111, abs=1e-3)
    assert curve.fluid_loss(622e6) == pytest.approx(0.357, abs=1e-3)
    assert curve.worst.offered == 450e6
    assert 3 < curve.exponent < 4.5
    assert "2.7 times what a full link of 400.0 Mbit/s explains" in said(curve)


def test_fragments_show_as_an_exponent():
    curve = loss_curve.analyse(fluid(430e6, pieces=4))
    assert curve.full == pytest.approx(430e6, rel=0.08)
    assert curve.exponent > 3
    assert curve.worst is not None
    assert "pieces" in said(curve)


def test_a_sweep_without_loss_has_only_a_lower_bound():
    curve = loss_curve.analyse([LoadPoint(rate, 0.0) for rate in RATES[:3]])
    assert curve.whole == 300e6
    assert curve.lossy is None
    assert curve.full is None
    assert curve.exponent is None
    assert "300.0 Mbit/s or more" in said(curve)


def test_a_sweep_with_loss_everywhere_has_only_an_upper_bound():
    curve = loss_curve.analyse([LoadPoint(100e6, 0.5), LoadPoint(200e6, 0.75)])
    assert curve.whole is None
    assert curve.lossy == 100e6
    assert "less than 100.0 Mbit/s" in said(curve)


def test_loss_that_comes_and_goes_is_said():
    curve = loss_curve.analyse([LoadPoint(100e6, 0.02), LoadPoint(200e6, 0.0), LoadPoint(300e6, 0.3)])
    assert curve.whole == 200e6
    assert "100.0 Mbit/s already lost more" in said(curve)


def test_the_threshold_is_the_callers():
    points = [LoadPoint(100e6, 0.0), LoadPoint(200e6, 0.03), LoadPoint(300e6, 0.3)]
    assert loss_curve.analyse(points).whole == 100e6
    assert loss_curve.analyse(points, threshold=0.05).whole == 200e6


def test_nothing_measured_says_nothing():
    assert loss_curve.analyse([]) is None


@pytest.mark.parametrize(
    "point",
    [LoadPoint(0, 0), LoadPoint(1e6, -0.1), LoadPoint(1e6, 1.1), LoadPoint(math.nan, 0), LoadPoint(1e6, math.nan)],
)
def test_what_no_measurement_gives_is_refused(point):
    with pytest.raises(ValueError, match="cannot be"):
        loss_curve.analyse([point])


@given(st.lists(st.tuples(st.floats(1e3, 1e12), st.floats(0, 1)), min_size=1, max_size=12, unique_by=lambda p: p[0]))
def test_any_measurements_can_be_told_of(pairs):
    curve = loss_curve.analyse([LoadPoint(offered, loss) for offered, loss in pairs])
    json.dumps(curve.as_json(), allow_nan=False)
    assert said(curve)


def test_loads_whose_ends_dropped_tell_only_what_came_whole():
    held = [LoadPoint(rate, 1 - 300e6 / rate, is_held=True) for rate in (400e6, 600e6)]
    curve = loss_curve.analyse([LoadPoint(200e6, 0.0), *held])
    assert (curve.whole, curve.lossy, curve.held, curve.plateau, curve.full) == (200e6, None, 400e6, None, None)
    assert "200.0 Mbit/s arrived with a loss below 0.5 %: the path carries so much or more" in said(curve)
    assert "so much one flow" not in said(curve)
    assert "tells nothing of the path" in said(loss_curve.analyse(held))
    json.dumps(curve.as_json(), allow_nan=False)


def test_one_load_that_lost_is_no_plateau():
    curve = loss_curve.analyse([LoadPoint(200e6, 0.0), LoadPoint(400e6, 0.25)])
    assert curve.plateau is None
    assert "what one flow of datagrams can have lies in between" in said(curve)
    # Just at the plateau came whole: two loads agree.
    near = loss_curve.analyse([LoadPoint(298e6, 0.0), LoadPoint(400e6, 0.25)])
    assert near.plateau == pytest.approx(300e6)


def test_all_loads_that_lost_differently_may_have_lost_by_chance():
    assert "chance or short outages" in said(loss_curve.analyse([LoadPoint(100e6, 0.02), LoadPoint(200e6, 0.02)]))


def test_the_knee_is_of_loads_that_nothing_at_the_ends_held() -> None:
    free = [LoadPoint(240e6, 0.0), LoadPoint(360e6, 0.0), LoadPoint(560e6, 0.0), LoadPoint(650e6, 1 - 590e6 / 650e6)]
    free.append(LoadPoint(800e6, 1 - 591e6 / 800e6))
    held = LoadPoint(950e6, 0.55, is_held=True)
    curve, alone = loss_curve.analyse([*free, held]), loss_curve.analyse(free)
    assert curve is not None and alone is not None and alone.knee is not None and curve.knee is not None
    assert curve.knee.plateau == alone.knee.plateau
    assert curve.held == 950e6


def test_a_knee_is_told_only_of_loads_that_bear_it_out() -> None:
    chance, told = random.Random(5), 0
    for _turn in range(600):
        loads = sorted(chance.sample(range(100, 1200, 50), chance.randint(2, 8)))
        capacity, pieces = chance.uniform(200, 1200), chance.choice([1.0, 1.0, 1.0, 1.3, 4.0])
        stray, scatter = chance.choice([0.0, 0.0, 0.0, 0.02, 0.1]), chance.choice([0.0, 0.005, 0.03])
        held = chance.choice([math.inf, math.inf, 700, 1000])
        points = []
        for load in loads:
            arrived = min(1.0, capacity / load) ** pieces * (1 - stray) * (1 + chance.uniform(-scatter, scatter))
            arrived *= chance.uniform(0.3, 1.0) if load >= held else 1.0
            points.append(LoadPoint(load * 1e6, 1 - min(arrived, 1.0), is_held=load >= held and arrived < 0.99))
        curve = loss_curve.analyse(points)
        sentences = [m for m in curve.conclusions if "knee" in m.msgid]
        assert curve.as_json()["knee"] == curve.bend
        assert bool(sentences) == (curve.bend is not None)
        for sentence in sentences:
            told += 1
            shown = sentence.params
            # The page has one figure for what arrives.
            assert f"of more {shown['plateau']} arrive" in said(curve) or "Every load lost" in said(curve)
            most = next(point.offered for point in points if loss_curve._rate(point.offered) == shown["most"])
            beyond = [point for point in points if curve.bend < point.offered <= most]
            assert beyond
            assert not any(point.is_held for point in beyond)
            for point in beyond:
                assert point.delivered == pytest.approx(min(curve.plateau, point.offered), rel=2 * PLATEAU)
            for point in points:
                if point.offered < (1 - PLATEAU) * curve.bend:
                    assert point.delivered == pytest.approx(point.offered, rel=4 * PLATEAU)
    assert told > 50


def test_what_falls_as_more_is_offered_has_no_knee_beyond_which_it_stays() -> None:
    # A broken stick fits it well enough; but of 1,000 Mbit/s less arrives than of 600.
    points = [LoadPoint(200e6, 0.0), LoadPoint(400e6, 0.0), LoadPoint(600e6, 0.32), LoadPoint(1000e6, 0.65)]
    curve = loss_curve.analyse(points)
    assert curve.knee is not None
    assert curve.knee.is_clear
    assert "knee" not in said(curve)


@pytest.mark.parametrize("chance", [0.006, 0.01, 0.05])
@pytest.mark.parametrize("loads", [(900, 910, 920), (1000, 1020, 1030), (100, 500, 505), (100, 101)])
def test_what_follows_the_load_is_no_plateau(loads: tuple[int, ...], chance: float) -> None:
    """Loads that are alike arrive alike, whatever takes a share of them."""
    curve = loss_curve.analyse(LoadPoint(load * 1e6, chance) for load in loads)
    assert (curve.plateau, curve.bend) == (None, None)
    assert "one flow" not in said(curve)


def repeated(load, losses):
    return LoadPoint(load, math.fsum(losses) / len(losses), losses=tuple(losses))


@pytest.mark.parametrize("runs", range(1, 9))
@pytest.mark.parametrize("others", [(), (300e6,), (300e6, 600e6)])
def test_a_burst_in_some_runs_is_neither_chance_nor_a_load_that_loses(runs: int, others: tuple[float, ...]) -> None:
    """Whichever runs of however many met it; what chance takes of each run stays chance."""
    draw = random.Random(runs)
    for hit in range(1, runs + 1):
        losses = [0.02 * draw.uniform(0.8, 1.2) for _run in range(hit)] + [0.0] * (runs - hit)
        curve = loss_curve.analyse([repeated(100e6, losses), *(repeated(load, [0.0] * runs) for load in others)])
        assert curve is not None
        sentences = said(curve)
        if hit < runs:
            assert f"In {hit} of {runs} runs at 100.0 Mbit/s 0.5 % or more was lost" in sentences
            assert curve.lossy is None
        assert "chance or short outages" not in sentences or hit == runs > 1
        assert "does not grow with the load" not in sentences or hit == runs
        assert "No load lost" not in sentences
        # Chance takes its share of every load.
        assert curve.chance_below(1e9) is None
        curve = loss_curve.analyse([repeated(100e6, losses), *(repeated(load, losses) for load in others)])
        assert curve is not None
        assert (curve.chance_below(1e9) is not None) == (hit == runs and bool(others))


@pytest.mark.parametrize("runs", [3, 5, 10, 30])
def test_what_few_datagrams_are_lost_of_by_chance_is_chance(runs: int) -> None:
    """Eight lost a run scatter, and are no bursts."""
    draw = random.Random(runs)
    sent, counted = 4000, []
    for load in (100e6, 200e6):
        losses = [sum(draw.random() < 0.004 for _datagram in range(sent)) / sent for _run in range(runs)]
        counted.append(repeated(load, losses))
    curve = loss_curve.analyse([*counted, repeated(800e6, [0.004] * runs)])
    assert curve is not None
    assert curve.chance_below(1e9) is not None
    assert "not enough to tell" not in said(curve)


def test_loads_far_above_a_limit_on_the_flow_lose_alike_and_not_by_chance():
    arrived = {382e6: 43.3e6, 573e6: 41.9e6, 860e6: 43.6e6, 956e6: 42.8e6}
    points = [LoadPoint(rate, 1 - own / rate, losses=(1 - own / rate,) * 5) for rate, own in arrived.items()]
    assert loss_curve.analyse(points).chance_below(1e9) is None
    by_chance = [LoadPoint(rate, 0.02, losses=(0.02,) * 5) for rate in arrived]
    assert loss_curve.analyse(by_chance).chance_below(1e9).share == pytest.approx(0.02)
