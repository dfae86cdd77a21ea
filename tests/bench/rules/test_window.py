"""The knee of a window sweep."""

import pytest

from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp import window
from tests.bench.rules.cases import KIB, Maker, evidence

SWEEP = {64: [140, 142], 256: [530, 540], 512: [958, 962], 1024: [989, 990], 2048: [990, 990], 4096: [990, 989]}


@pytest.fixture
def make():
    return Maker()


def test_the_rate_stops_growing_at_the_smallest_window_within_two_per_cent(make):
    draft = window.conclude(evidence(make.window_sweep(SWEEP)))
    assert draft.value == 1024 * KIB
    assert (draft.low, draft.high) == (512 * KIB, 1024 * KIB)
    assert draft.evidence == tuple(range(1, 13))
    assert draft.confidence_label == "high"
    assert draft.alternatives == ()
    assert "1,048,576 B" in draft.formula
    assert "N · W · 8 / RTT" in draft.formula
    assert any("the window is the limit" in str(line) for line in draft.why)
    assert any("granted as a buffer 2 MiB" in str(line) for line in draft.why)


def test_the_recorded_sweep_of_the_kisti_pusan_line_has_its_knee_at_one_mebibyte(make):
    draft = window.conclude(evidence(make.recorded("winsweep_pnu")))
    assert draft.value == 1024 * KIB
    assert "989" in str(draft.title)
    assert draft.confidence_label == "high"
    assert len(draft.evidence) == 21
    reasons = " ".join(str(line) for line in draft.why)
    assert "the window is the limit" in reasons
    assert "fill the queue" in reasons
    assert "observed as a window 1.421 MiB" in reasons


def test_an_automatic_window_that_does_as_well_is_recommended_instead(make):
    draft = window.conclude(evidence([*make.window_sweep(SWEEP), make.tcp([990e6])]))
    assert draft.value == 1024 * KIB
    assert draft.change == ""
    assert any("leave the window to the kernel" in str(line) for line in draft.why)
    assert 13 in draft.evidence


def test_an_automatic_window_that_does_worse_is_no_reason(make):
    draft = window.conclude(evidence([*make.window_sweep(SWEEP), make.tcp([166e6])]))
    assert draft.change == "iperf3 -c SERVER -w 1048576\n"
    assert draft.predicted == pytest.approx(989.5e6)
    assert draft.predicted_interval[0] < draft.predicted < draft.predicted_interval[1]


def test_an_automatic_window_is_no_plateau_behind_the_largest(make):
    # Both may be capped at about the same.
    points = make.window_sweep({64: [140], 256: [530], 1024: [985]})
    assert window.conclude(evidence(points)) is None
    assert window.conclude(evidence([*points, make.tcp([990e6])])) is None


def test_a_rate_that_still_grows_has_no_knee(make):
    assert window.conclude(evidence(make.window_sweep({64: [140], 128: [280], 256: [530]}))) is None


def test_an_automatic_window_that_does_better_shows_that_the_sweep_ended_too_soon(make):
    points = make.window_sweep({64: [100], 128: [300], 256: [301], 512: [302]})
    assert window.conclude(evidence([*points, make.tcp([900e6])])) is None


def test_a_rate_that_falls_again_has_no_plateau(make):
    assert window.conclude(evidence(make.window_sweep({64: [140], 256: [530], 512: [960], 1024: [600]}))) is None


def test_a_sweep_that_is_flat_from_its_start_has_no_knee(make):
    assert window.conclude(evidence(make.window_sweep({64: [990], 256: [990], 512: [990]}))) is None


def test_repetitions_that_contradict_each_other_give_no_knee(make):
    assert window.conclude(evidence(make.window_sweep({**SWEEP, 1024: [600, 1300]}))) is None


def test_two_windows_are_no_sweep(make):
    assert window.conclude(evidence(make.window_sweep({64: [140], 1024: [990]}))) is None


def test_no_tcp_is_no_sweep(make):
    assert window.conclude(evidence([make.ping(0.0048), make.udp(1e8, 0.0)])) is None


def test_a_trial_without_any_rate_is_left_out(make):
    assert (
        window.conclude(evidence([*make.window_sweep({64: [140], 256: [530]}), make.tcp([0.0], window=KIB)])) is None
    )


def test_small_windows_that_break_the_law_leave_another_explanation(make):
    draft = window.conclude(evidence(make.window_sweep(SWEEP, observed=4_000_000)))
    lawful = window.conclude(evidence(Maker().window_sweep(SWEEP)))
    assert draft.confidence < lawful.confidence
    assert "loss" in str(draft.alternatives[0].title)
    assert str(draft.alternatives[0].test)
    assert not any("is the limit" in str(line) for line in draft.why)


def test_reverse_trials_without_a_window_have_a_knee_but_no_law(make):
    points = make.window_sweep(SWEEP, direction="reverse")
    for point in points:
        for metric in ("window_observed", "window_granted", "mean_rtt", "min_rtt"):
            del point.metrics[metric]
    draft = window.conclude(evidence(points))
    assert draft.value == 1024 * KIB
    assert "RTT" not in draft.formula
    assert "reverse" in str(draft.applies_when)
    assert draft.alternatives


def test_single_trials_are_trusted_less(make):
    rates = {64: [140], 256: [530], 1024: [989], 2048: [990], 4096: [990]}
    single = window.conclude(evidence([*make.window_sweep(rates), make.tcp([166e6])]))
    repeated = window.conclude(evidence([*Maker().window_sweep(SWEEP), make.tcp([166e6, 167e6])]))
    assert single.confidence < repeated.confidence
    widths = [draft.predicted_interval[1] / draft.predicted_interval[0] for draft in (single, repeated)]
    assert widths[0] > 1.2 > widths[1]


def test_sweeps_of_other_parameters_are_not_mixed(make):
    points = [*make.window_sweep(SWEEP), *make.window_sweep({64: [900], 8192: [100]}, streams=8)]
    draft = window.conclude(evidence(points))
    assert draft.value == 1024 * KIB
    assert draft.evidence == tuple(range(1, 13))


def test_experiments_of_one_sweep_are_joined(make):
    halves = {64: [140], 256: [530], 1024: [989]}, {512: [800], 2048: [990], 1024: [990]}
    points = [point for half in halves for point in make.window_sweep(half)]
    draft = window.conclude(evidence(points, PathFacts()))
    assert draft.value == 1024 * KIB
    assert "989.5" in str(draft.title)
