"""What limits TCP now: the path, the window, loss or a processor."""

import dataclasses

import pytest

from apps.bench import telemetry
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, PathFacts
from apps.bench.rules.tcp import verdict
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence
from tests.bench.tools import recordings

CALTECH = PathFacts(457_000_000, 0.1355, 1500)
GIGABIT_1500 = PathFacts(1_000_000_000, 0.0048, 1500)
WINDOWS = {"receiver_window_limited": 0.846, "send_buffer_limited": 0.0, "congestion_window_limited": 0.154}
AUTO = (recordings.DATA / "telemetry" / "ss_tmi_auto.txt").read_text()
OWN = {"receiver_window_limited": 0.0, "send_buffer_limited": 0.0, "congestion_window_limited": 1.0}


@pytest.fixture
def make():
    return Maker()


def untuned(make, rate=160.74e6, observed=0, **kernel):
    """Return the untuned stream of the KISTI-Pusan report, of which only the rate is known."""
    point = make.tcp([rate], observed=observed, rtt=0.0048)
    return dataclasses.replace(point, observed={"tcp": kernel}) if kernel else point


def reasons_of(draft):
    return " ".join(str(line) for line in draft.why)


def test_the_untuned_kisti_pusan_line_is_limited_by_the_window(make):
    points = [make.ping(0.0048), untuned(make), make.tcp([1e9], window=KIB * KIB, observed=0)]
    draft = verdict.conclude(evidence(points))
    assert (draft.kind, draft.subject) == (DIAGNOSIS, "window")
    assert draft.value == 96_444
    assert draft.formula == "W = X · RTT / 8 / N = 160.7 Mbit/s · 4.80 ms / 8 / 1 = 96,444 B"
    assert "98,304 B: the usual limit of Linux 2.4 and 2.6" in reasons_of(draft)
    assert "With a window of 1 MiB it is 1.000 Gbit/s, ×6.22: from there the path is the limit." in reasons_of(draft)
    assert (draft.present, draft.predicted) == (160.74e6, 1e9)
    assert draft.evidence == (1, 2, 3)
    assert dict(draft.proof.now) == {"window": 0, "streams": 1}
    assert dict(draft.proof.then) == {"window": 1_048_576, "streams": 1}
    # The larger window rules chance and a limit of each flow out, but not this; and what would tell.
    assert [str(item.title) for item in draft.alternatives] == [
        "The kernel's own window loses more than one that is bounded: to a policer, or a short queue."
    ]
    assert all(item.proposal for item in draft.alternatives)


@pytest.mark.parametrize(("offered", "is_window"), [(100_000, True), (300_000, False)])
def test_a_receiver_that_reads_slowly_is_no_window(make, offered, is_window):
    points = [
        make.ping(0.0048),
        dataclasses.replace(make.tcp([160e6] * 3, observed=offered), observed={"tcp": WINDOWS}),
    ]
    draft = verdict.conclude(evidence(points, GIGABIT_1500))
    assert (draft is not None and draft.subject == "window") == is_window


def test_the_gain_is_that_of_the_least_window_with_the_best_rate(make):
    points = [
        make.ping(0.0048),
        untuned(make),
        *make.window_sweep({256: [530, 535], 1024: [988, 990], 4096: [990, 990]}),
    ]
    draft = verdict.conclude(evidence(points))
    assert draft.proof.then["window"] == 1024 * KIB
    assert draft.predicted == pytest.approx(989e6)
    assert draft.predicted_interval[0] < draft.predicted < draft.predicted_interval[1]


def test_without_the_larger_window_nothing_says_that_it_is_the_window(make):
    assert verdict.conclude(evidence([make.ping(0.0048), untuned(make)])) is None


def test_a_larger_window_that_gains_nothing_refutes_it(make):
    points = [make.ping(0.0048), untuned(make), make.tcp([161e6], window=KIB * KIB, observed=0)]
    assert verdict.conclude(evidence(points)) is None


def test_a_smaller_window_that_gains_nothing_refutes_nothing(make):
    points = [make.ping(0.0048), untuned(make, **WINDOWS), make.tcp([100e6], window=64 * KIB, observed=0)]
    assert verdict.conclude(evidence(points)).subject == "window"


def test_the_kernels_word_is_enough_and_leaves_nothing_missing(make):
    draft = verdict.conclude(evidence([make.ping(0.0048), untuned(make, **WINDOWS)]))
    assert draft.subject == "window"
    assert "85 % of the time for the receiver's window" in reasons_of(draft)
    assert draft.missing == ()


@pytest.mark.parametrize(
    ("name", "rate", "subject"),
    [
        ("ss_tmi_w64k.txt", 141e6, "window"),
        ("ss_tmi_nowscale.txt", 105e6, "window"),
        ("ss_tmi_auto.txt", 990e6, "path"),
    ],
)
def test_the_recorded_word_of_the_kernel_is_enough(make, name, rate, subject):
    text = (recordings.DATA / "telemetry" / name).read_text()
    kernel = telemetry.transport_of([[telemetry.SocketListing(1.0, telemetry.read_sockets(text))]]).as_json()
    draft = verdict.conclude(evidence([make.ping(0.0048), untuned(make, rate, **kernel)]))
    assert draft.subject == subject
    # The kernel's own window at 141 Mbit/s would be a contradiction, and no limit is named.
    own = telemetry.transport_of([[telemetry.SocketListing(1.0, telemetry.read_sockets(AUTO))]]).as_json()
    assert verdict.conclude(evidence([make.ping(0.0048), untuned(make, 141e6, **own)])) is None


def test_the_kernels_word_against_it_is_heard(make):
    points = [make.ping(0.0048), untuned(make, **OWN), make.tcp([1e9], window=KIB * KIB, observed=0)]
    assert verdict.conclude(evidence(points)) is None


@pytest.mark.parametrize(
    ("name", "window", "fingerprint"),
    [
        ("sysctlsweep_pnu/sysctl_k24def_cubic_r1.json", 101_467, "98,304 B"),
        ("sysctlsweep_pnu/sysctl_131072_cubic_r0.json", 84_463, ""),
        ("sysctlsweep_pnu/sysctl_seeds_old_cubic_r1.json", 190_376, ""),
    ],
)
def test_recorded_limits_of_the_kernel_are_windows(make, name, window, fingerprint):
    draft = verdict.conclude(evidence([make.ping(0.0048), make.read(name)]))
    assert (draft.subject, draft.value) == ("window", pytest.approx(window, rel=1e-3))
    assert fingerprint in reasons_of(draft)
    assert any("list sockets" in str(line) for line in draft.missing)


def test_streams_without_window_scaling_give_themselves_away(make):
    draft = verdict.conclude(evidence([make.ping(0.0048), *make.recorded("streamsweep_pnu_nowscale")]))
    assert draft.subject == "window"
    assert "65,535 B (RFC 7323)" in reasons_of(draft)


@pytest.mark.parametrize("folder", ["streamsweep_cal_w220k", "streamsweep_cal_def"])
def test_a_small_buffer_at_the_far_end_of_the_caltech_line_is_a_window(make, folder):
    draft = verdict.conclude(evidence([make.ping(0.1355), *make.recorded(folder)], CALTECH))
    assert draft.subject == "window"
    # No larger window was measured: what comes next is not known.
    assert draft.predicted is None


def test_a_window_observed_says_nothing_while_segments_are_lost(make):
    point = make.tcp([160e6], rtt=0.0048)
    point.metrics["retransmits"] = {2: 40.0}
    assert verdict.conclude(evidence([make.ping(0.0048), point])) is None


def test_the_recorded_tuned_line_is_filled(make):
    draft = verdict.conclude(evidence([make.ping(0.0048), *make.recorded("winsweep_pnu")]))
    assert (draft.kind, draft.subject) == (NO_CHANGE, "path")
    assert "needs a faster path" in reasons_of(draft)
    assert draft.change == ""


@pytest.mark.parametrize(("name", "law"), [("loss1e-3_reno_sack0.json", 91e6), ("loss1e-3_cubic_sack1.json", 96e6)])
def test_recorded_loss_of_one_in_a_thousand_is_the_limit(make, name, law):
    draft = verdict.conclude(evidence([make.ping(0.0048), make.read(name)], GIGABIT_1500))
    assert draft.subject == "loss"
    assert draft.value == pytest.approx(0.1, rel=0.2)
    assert f"{law / 1e6:.0f}" in draft.formula.split("=")[2]
    assert draft.predicted is None
    assert "queue" in str(draft.alternatives[0].title)
    assert dict(draft.proposals[0].factors) == {"congestion": "cubic, bbr"}


def test_what_a_standing_queue_loses_is_no_chance(make):
    point = make.read("loss1e-3_reno_sack0.json", congestion="reno")
    for metric, rtt in (("min_rtt", 0.0048), ("mean_rtt", 0.012)):
        point.metrics[metric] = dict.fromkeys(point.metrics["goodput"], rtt)
    assert verdict.conclude(evidence([make.ping(0.0048), point], GIGABIT_1500)) is None


def test_bbr_fills_the_lossy_path(make):
    point = make.read("loss1e-3_bbr_sack1.json", congestion="bbr")
    assert verdict.conclude(evidence([make.ping(0.0048), point], GIGABIT_1500)).subject == "path"


def test_far_more_loss_than_the_rate_tells_is_another_limit(make):
    point = make.read("loss1e-3_reno_sack0.json", congestion="reno")
    point.metrics["retransmits"] = dict.fromkeys(point.metrics["retransmits"], 4000.0)
    assert verdict.conclude(evidence([make.ping(0.0048), point], GIGABIT_1500)) is None


def test_a_processor_that_was_full_is_the_limit(make):
    busy = make.tcp([4e9], observed=0)
    busy.metrics["cpu_local"] = {2: 99.0}
    idle = make.tcp([4e9], observed=0)
    path = PathFacts(10_000_000_000, 0.0002, 1500)
    draft = verdict.conclude(evidence([make.ping(0.0002), busy], path))
    assert draft.subject == "processor"
    assert verdict.conclude(evidence([make.ping(0.0002), idle], path)) is None
    flagged = dataclasses.replace(busy, warnings=frozenset({"processor-full"}))
    assert verdict.conclude(evidence([make.ping(0.0002), flagged], path)).subject == "processor"


def test_no_verdict_without_the_path_or_the_present(make):
    assert verdict.conclude(evidence([make.ping(0.0048), make.tcp([1e8], window=65536)])) is None
    assert verdict.conclude(evidence([untuned(make)], PathFacts())) is None


def test_of_a_path_of_unknown_capacity_no_gain_is_predicted(make):
    draft = verdict.conclude(evidence([untuned(make, **WINDOWS)], PathFacts()))
    assert (draft.subject, draft.predicted, draft.predicted_interval) == ("window", None, None)


def test_settings_of_a_sweep_are_not_the_present(make):
    point = make.tcp([990e6])
    changed = dataclasses.replace(
        point, parameters={**point.parameters, "setting.client.net.ipv4.tcp_rmem": "4096 131072 8388608"}
    )
    assert verdict.conclude(evidence([make.ping(0.0048), changed], LINKS)) is None
