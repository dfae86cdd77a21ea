"""What the rules take for the path's RTT and capacity, and when they take nothing."""

import pytest

from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp import bdp
from apps.bench.rules.tcp.path import read_capacity, read_path, read_rtt
from tests.bench.rules.cases import LINKS, Maker, evidence

NOTHING = PathFacts()


@pytest.fixture
def make():
    return Maker()


def test_the_rtt_is_the_least_that_was_measured(make):
    rtt = read_rtt(evidence([make.ping(0.0051, 0.00479), make.ping(0.005)]))
    assert rtt.value == 0.00479
    assert rtt.trials == (1, 2, 3)
    assert rtt.trust == 1


def test_a_given_rtt_stands_in_for_one_that_was_not_measured(make):
    rtt = read_rtt(evidence([make.tcp([5e8], rtt=0.02)]))
    assert rtt.value == 0.0048
    # What TCP saw is no measurement of an idle path, but it is one.
    assert str(rtt.source) == "RTT 4.80 ms: as given with the links; TCP saw 20.0 ms at least."
    assert rtt.trials == ()
    assert "not measured" in str(read_rtt(evidence([make.udp(5e8, 0.0)])).source)


def test_the_least_rtt_under_load_is_better_than_none(make):
    rtt = read_rtt(evidence([make.tcp([5e8], rtt=0.02), make.tcp([1e8], rtt=0.006)], NOTHING))
    assert rtt.value == 0.006
    assert rtt.trials == (2,)
    assert rtt.trust < 0.8


def test_an_rtt_of_zero_is_none(make):
    assert read_rtt(evidence([make.ping(0.0)], NOTHING)) is None


def test_a_rate_near_the_links_confirms_their_capacity(make):
    capacity = read_capacity(evidence([make.tcp([980e6])]))
    assert capacity.value == 1e9
    assert "confirmed by a measured 980.0 Mbit/s" in str(capacity.source)
    assert capacity.trials == (1,)


def test_windows_that_the_kernel_capped_make_no_plateau(make):
    points = make.window_sweep({1024: [393], 2048: [393]}, observed=236_000)
    capacity = read_capacity(evidence(points))
    assert capacity.value == 1e9
    assert "nothing measured has come near" in str(capacity.source)
    assert capacity.trials == ()


def test_udp_that_overloads_the_path_shows_what_it_holds_at_least(make):
    capacity = read_capacity(evidence([make.udp(425e6, 0.12)], NOTHING))
    assert capacity.value == 425e6
    assert capacity.is_lower_bound


def test_udp_that_loses_at_a_low_rate_shows_no_capacity(make):
    capacity = read_capacity(evidence([make.udp(10e6, 0.02), make.tcp([500e6])], NOTHING))
    assert "at least" in str(capacity.source)
    assert capacity.value == 500e6


def test_one_rate_alone_is_a_lower_bound(make):
    capacity = read_capacity(evidence([make.tcp([500e6])], NOTHING))
    assert "at least" in str(capacity.source)
    assert capacity.trust == 0.5


def test_a_rate_above_the_links_contradicts_them(make):
    assert read_capacity(evidence([make.tcp([1.2e9])])) is None
    assert read_path(evidence([make.tcp([1.2e9]), make.ping(0.0048)])) is None


def test_nothing_known_is_nothing(make):
    assert read_capacity(evidence([], NOTHING)) is None
    assert read_path(evidence([], NOTHING)) is None
    assert read_path(evidence([make.ping(0.0048)], NOTHING)) is None


def test_figures_of_the_links_alone_are_no_evidence():
    assert read_path(evidence([], LINKS)) is None


def test_a_path_that_holds_less_than_a_byte_is_none(make):
    assert read_path(evidence([make.ping(1e-9)], PathFacts(1000))) is None


def test_the_bdp_of_the_kisti_pusan_line(make):
    draft = bdp.conclude(evidence([make.ping(0.0048), make.tcp([980e6])]))
    assert draft.value == 600_000
    assert (draft.low, draft.high) == (600_000, 1_200_000)
    assert draft.formula == "BDP = C · RTT / 8 = 1 Gbit/s · 4.80 ms / 8 = 600,000 B; W = 2 · BDP = 1,200,000 B"
    assert draft.evidence == (1, 2)
    assert draft.predicted == draft.present == pytest.approx(980e6)
    assert draft.predicted_interval == pytest.approx((980e6, 990e6), rel=1e-3)
    assert draft.confidence_label == "high"
    assert any("window scaling" in str(line) for line in draft.why)


def test_the_bdp_of_the_knu_caltech_line(make):
    points = [make.ping(0.1355), make.udp(424e6, 0.12), make.tcp([8.2e6], rtt=0.136)]
    draft = bdp.conclude(evidence(points, PathFacts(457_000_000, None, 1500)))
    assert draft.value == pytest.approx(7.74e6, rel=0.001)
    assert any("×52" in str(line) for line in draft.why)


def test_a_short_path_needs_no_scaling(make):
    draft = bdp.conclude(evidence([make.ping(0.0001), make.tcp([90e6], streams=2)], PathFacts(100_000_000)))
    assert draft.high == 2500
    assert not any("scaling" in str(line) or "gain" in str(line) for line in draft.why)


def test_a_capacity_that_nothing_came_near_is_trusted_less(make):
    sure = bdp.conclude(evidence([make.ping(0.0048), make.tcp([980e6])]))
    unsure = bdp.conclude(evidence([make.ping(0.0048), make.tcp([140e6])]))
    assert unsure.confidence < sure.confidence
    assert unsure.predicted_interval is None
    assert unsure.value == sure.value


def test_there_is_no_bdp_without_a_path(make):
    assert bdp.conclude(evidence([make.ping(0.0048)], NOTHING)) is None


def test_a_window_is_proved_only_where_programs_may_ask_for_it(make):
    points = [make.ping(0.0048), make.tcp([166e6])]
    assert bdp.conclude(evidence(points)).proof is None
    small, large = ({f"net.core.{name}": size for name in ("rmem_max", "wmem_max")} for size in ("212992", "8388608"))
    assert bdp.conclude(evidence(points, LINKS, client=large, server=small)).proof is None
    assert bdp.conclude(evidence(points, LINKS, client=large, server=large)).proof.then["window"] == 1_200_000
