"""The kernel's part of TCP: buffers granted, autotuning, options, frames, congestion control and pacing."""

import dataclasses

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, LinkFacts, PathFacts
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence, tools

GIGABIT_1500 = PathFacts(1_000_000_000, 0.0048, 1500)
MIB = KIB * KIB


@pytest.fixture
def make():
    return Maker()


def by_rule(measurements):
    return {draft.rule: draft for draft in tcp.findings(measurements)}


def reasons_of(draft):
    return " ".join(str(line) for line in draft.why)


def capped(make, granted=425_984, **facts):
    """Return evidence of a window of 400 KiB on a kernel with rmem_max = 208 KiB (393 Mbit/s in the lab)."""
    point = make.tcp([393e6], window=400 * KIB, observed=236_000)
    point.metrics["window_granted"] = {2: float(granted)}
    return evidence([make.ping(0.0048), point], LINKS, **facts)


def test_a_window_that_was_not_granted_asks_for_larger_maxima(make):
    old = {"net.core.rmem_max": "212992", "net.core.wmem_max": "212992"}
    draft = by_rule(capped(make, client=old, server=old))["tcp-buffer-maxima"]
    assert draft.value == 400 * KIB
    assert "Of a window of 400 KiB that was requested the kernel granted 208 KiB" in reasons_of(draft)
    assert "net.core.rmem_max=409600\nnet.core.wmem_max=409600\n" in draft.change
    assert "sysctl -w 'net.core.rmem_max=212992'" in draft.undo
    assert "tcp_rmem and tcp_wmem do" in " ".join(map(str, draft.limits))


def test_windows_that_were_granted_ask_for_nothing(make):
    assert "tcp-buffer-maxima" not in by_rule(capped(make, granted=819_200))


def test_maxima_grow_no_further_than_the_path_needs(make):
    point = make.tcp([393e6], window=64 * MIB, observed=236_000)
    point.metrics["window_granted"] = {2: 425_984.0}
    draft = by_rule(evidence([make.ping(0.0048), point]))["tcp-buffer-maxima"]
    assert draft.value == 1_200_128
    enough = make.tcp([990e6], window=64 * MIB, observed=3e6)
    enough.metrics["window_granted"] = {3: 8e6}
    assert "tcp-buffer-maxima" not in by_rule(evidence([make.ping(0.0048), enough]))


def test_explicit_windows_that_are_slower_switch_autotuning_off(make):
    points = [make.ping(0.0048), make.tcp([990e6, 990e6]), *make.window_sweep({64: [140, 141], 256: [530, 533]})]
    draft = by_rule(evidence(points))["tcp-autotuning"]
    assert draft.predicted == 990e6
    assert (draft.kind, draft.present, draft.tried) == (NO_CHANGE, None, pytest.approx(531.5e6))
    assert "switches the kernel's autotuning off" in reasons_of(draft)
    assert draft.proof.then["window"] == 0
    better = [*points, make.tcp([1.2e9], window=4 * MIB)]
    assert "tcp-autotuning" not in by_rule(evidence(better, PathFacts(2e9, 0.0048, 9000)))


def test_autotuning_that_is_off_is_switched_on(make):
    off = {"net.ipv4.tcp_moderate_rcvbuf": "0"}
    draft = by_rule(evidence([make.ping(0.0048), make.tcp([218e6])], LINKS, server=off))["tcp-autotuning"]
    assert draft.change.startswith("# server\n")
    assert "net.ipv4.tcp_moderate_rcvbuf=1\n" in draft.change
    assert draft.proof.then["setting.server.net.ipv4.tcp_moderate_rcvbuf"] == "1"


def test_recorded_streams_without_scaling_are_told_from_the_window_they_saw(make):
    draft = by_rule(evidence([make.ping(0.0048), *make.recorded("streamsweep_pnu_nowscale")]))["tcp-window-scaling"]
    assert draft.kind == RECOMMENDATION
    assert "never offered more than 65,535 B" in reasons_of(draft)
    assert "BDP / 65,535 B = 9.2" in draft.formula
    # What limits next is not known.
    assert draft.predicted is None


def test_scaling_that_is_off_matters_on_long_paths_only(make):
    off = {"net.ipv4.tcp_window_scaling": "0"}
    long = evidence([make.ping(0.0048), make.tcp([105e6])], LINKS, client=off)
    assert "# client\n" in by_rule(long)["tcp-window-scaling"].change
    short = evidence([make.ping(0.0002), make.tcp([105e6], rtt=0.0002)], PathFacts(10**9, 0.0002, 1500), client=off)
    assert "tcp-window-scaling" not in by_rule(short)
    # So much cannot have been had without scaling.
    refuted = evidence([make.ping(0.0048), make.tcp([700e6])], LINKS, client=off)
    assert "tcp-window-scaling" not in by_rule(refuted)


def test_sack_is_switched_on_where_segments_are_lost(make):
    off = {"net.ipv4.tcp_sack": "0"}
    lossy = make.read("loss1e-3_cubic_sack0.json")
    draft = by_rule(evidence([make.ping(0.0048), lossy], GIGABIT_1500, client=off, server=off))["tcp-sack"]
    assert "41 segments were sent again" in reasons_of(draft)
    assert "net.ipv4.tcp_sack=1\n" in draft.change
    clean = evidence([make.ping(0.0048), make.tcp([990e6])], LINKS, client=off)
    assert "tcp-sack" not in by_rule(clean)
    assert "tcp-sack" not in by_rule(evidence([make.ping(0.0048), lossy], GIGABIT_1500))


def test_timestamps_protect_where_sequence_numbers_wrap_soon(make):
    off = {"net.ipv4.tcp_timestamps": "0"}
    draft = by_rule(evidence([make.ping(0.0048), make.tcp([980e6])], GIGABIT_1500, client=off))["tcp-timestamps"]
    assert "17 s" in reasons_of(draft)
    assert "0.8 %" in str(draft.side_effects[0])
    slow = evidence([make.ping(0.1), make.tcp([95e6])], PathFacts(100e6, 0.1, 1500), client=off)
    assert "tcp-timestamps" not in by_rule(slow)


def test_recorded_segments_of_1448_bytes_on_links_of_9000_ask_for_jumbo_frames(make):
    own = {"name": "ens1", "state": "up", "addresses": ["10.0.0.1/24"]}
    measurements = evidence([make.ping(0.0048), *make.recorded("winsweep_py1500")])
    measurements = dataclasses.replace(measurements, facts={"client": {"interfaces": [own]}})
    draft = by_rule(measurements)["tcp-mtu"]
    assert draft.value == 9000
    assert draft.formula == "η = (MTU − 52) / (MTU + 38): η(9000) / η(1500) = 1.0516"
    assert draft.predicted == pytest.approx(1.0516 * 932.3e6, rel=1e-3)
    assert draft.change == "# client\nip link set dev ens1 mtu 9000\n# server\nip link set dev INTERFACE mtu 9000\n"
    assert (draft.proof.now["setting.client.mtu"], draft.proof.then["setting.server.mtu"]) == ("1500", "9000")


def test_frames_as_large_as_the_links_allow_ask_for_none(make):
    assert "tcp-mtu" not in by_rule(evidence([make.ping(0.0048), *make.recorded("winsweep_pnu")]))
    assert "tcp-mtu" not in by_rule(
        evidence([make.ping(0.0048), *make.recorded("winsweep_py1500")], dataclasses.replace(LINKS, mtu=1500))
    )


def test_no_gain_is_predicted_of_larger_frames_while_the_window_limits(make):
    point = make.read("winsweep_py1500/w64K_cubic_r0.json", window=64 * KIB)
    draft = by_rule(evidence([make.ping(0.0048), point]))["tcp-mtu"]
    assert (draft.predicted, draft.confidence_label) == (None, "medium")
    assert "do that before" in reasons_of(draft)


def test_a_path_that_lets_less_through_than_its_links_is_a_fault(make):
    tracepath = make.point(tools.get("tracepath"), {}, {"path_mtu": 1500.0})
    points = [make.ping(0.0048), tracepath, *make.recorded("winsweep_py1500")]
    # Hosts whose own frames are no larger say nothing of the path, and neither do those of which it is not known.
    assert "tcp-mtu" not in by_rule(evidence(points))
    own = {"name": "eth0", "state": "up", "addresses": ["192.0.2.1/24"], "mtu": 9000}
    facts = {role: {"interfaces": [own]} for role in ("client", "server")}
    draft = by_rule(dataclasses.replace(evidence(points), facts=facts))["tcp-mtu"]
    assert (draft.kind, draft.subject, draft.change) == (DIAGNOSIS, "path", "")
    assert "Packets above 1500 B do not pass" in str(draft.title)


def test_the_recorded_bbr_is_worth_changing_to_under_loss(make):
    points = [make.read("loss1e-3_cubic_sack1.json"), make.read("loss1e-3_bbr_sack1.json", congestion="bbr")]
    draft = by_rule(evidence([make.ping(0.0048), *points], GIGABIT_1500))["tcp-congestion"]
    assert "×11.37" in reasons_of(draft)
    assert "net.ipv4.tcp_congestion_control=bbr\n" in draft.change
    assert (draft.proof.now["congestion"], draft.proof.then["congestion"]) == ("", "bbr")
    assert "BBR takes rate from flows of CUBIC" in str(draft.side_effects[0])


def test_where_loss_limits_and_bbr_was_not_tried_it_is_proposed(make):
    points = [make.ping(0.0048), make.read("loss1e-3_cubic_sack1.json")]
    chance = [make.udp(99.9e6, 1e-3, rate=100_000_000, duration=10) for _run in range(2)]
    draft = by_rule(evidence([*points, *chance], GIGABIT_1500))["tcp-congestion"]
    assert draft.confidence_label == "medium"
    # What BBR then had in the lab was 931 Mbit/s; elsewhere a window or a processor comes next.
    assert draft.predicted is None
    assert dict(draft.proposals[0].factors) == {"congestion": "cubic, bbr"}
    # A policer drops as much, and BBR would send against it: without datagrams the finding on the limit names both.
    alone = by_rule(evidence(points, GIGABIT_1500))
    assert "tcp-congestion" not in alone
    assert alone["tcp-limit"].subject == "loss"
    assert "policer" in str(alone["tcp-limit"].alternatives[1].title)
    # So does a load that it cuts: it loses far more than TCP.
    cut = by_rule(evidence([*points, make.udp(1e8, 0.5, rate=200_000_000, duration=10)], GIGABIT_1500))
    assert "tcp-congestion" not in cut
    # Datagrams that lost nothing show that it is not chance.
    clean = by_rule(evidence([*points, make.udp(1e8, 0.0, rate=100_000_000, duration=10)], GIGABIT_1500))
    assert "tcp-congestion" not in clean
    assert "tcp-limit" not in clean


def test_controls_that_do_alike_or_a_clean_path_ask_for_no_change(make):
    alike = [make.tcp([980e6]), make.tcp([985e6], congestion="bbr")]
    assert "tcp-congestion" not in by_rule(evidence([make.ping(0.0048), *alike]))
    assert "tcp-congestion" not in by_rule(evidence([make.ping(0.0048), *make.recorded("winsweep_pnu")]))


def bursts(make, loss=0.0, speed=10e9, retransmits=440.0, alone=0.0):
    """Return evidence of a 10 Gbit/s sender before a link of 457 Mbit/s."""
    links = (LinkFacts("access", speed), LinkFacts("WAN", 457e6))
    point = make.tcp([250e6], observed=20e6, rtt=0.1355)
    point.metrics["retransmits"] = {2: retransmits}
    points = [point]
    if alone:
        # Four streams have the best, one has more than a fourth of the path.
        point.parameters["streams"] = 4
        points.append(make.tcp([alone], observed=20e6, rtt=0.1355))
    path = PathFacts(457e6, 0.1355, 1500, links, "WAN")
    return evidence([make.ping(0.1355), *points, make.udp(200e6, loss, rate=200_000_000, duration=10)], path)


def test_a_sender_faster_than_the_bottleneck_whose_bursts_are_lost_is_to_pace(make):
    draft = by_rule(bursts(make))["tcp-pacing"]
    assert draft.value == pytest.approx(0.9 * 430.3e6, rel=1e-3)
    assert draft.change == "tc qdisc replace dev INTERFACE root fq maxrate 387mbit\n"
    assert "not by chance" in reasons_of(draft)
    assert draft.predicted is None
    # The interface as it is against the same line, measured in turn.
    assert draft.proof.now == {"window": 0, "streams": 1, "setting.client.qdisc": ""}
    assert draft.proof.then["setting.client.qdisc"] == "fq maxrate 387mbit"


@pytest.mark.parametrize("changed", [{"loss": 0.001}, {"speed": 500e6}, {"retransmits": 0.0}])
def test_pacing_is_no_remedy_for_chance_or_without_bursts(make, changed):
    assert "tcp-pacing" not in by_rule(bursts(make, **changed))


def test_a_pace_that_one_stream_alone_exceeds_is_no_advice(make):
    """The line paces each connection: what four gain by it one would lose."""
    draft = by_rule(bursts(make, alone=90e6))["tcp-pacing"]
    assert str(draft.title) == "Pace each stream of 4 at 96.81 Mbit/s"
    assert "tcp-pacing" not in by_rule(bursts(make, alone=120e6))


def test_streams_whose_repetitions_scatter_as_far_as_counts_differ_tell_no_count(make):
    # Kyungpook-KOREN, recorded: one stream 820 and 936, five 933 and 941 Mbit/s.
    points = [make.ping(0.002), *make.recorded("streamsweep_knu")]
    assert "tcp-streams" not in by_rule(evidence(points, PathFacts(10**9, 0.002, 1500)))


def shaped(make, rates, observed=0):
    """Return a sweep of streams on the Caltech line, each with 8 MB of window."""
    points = [
        make.tcp([rate * 1e6], window=8 * MIB, streams=streams, observed=observed, rtt=0.1355)
        for streams, rate in rates.items()
    ]
    return evidence([make.ping(0.1355), *points], PathFacts(457e6, 0.1355, 1500))


def test_streams_that_multiply_though_each_has_window_enough_are_limited_each(make):
    draft = by_rule(shaped(make, {1: 9, 10: 90, 30: 270, 50: 425, 100: 428}))["tcp-per-flow-limit"]
    assert "the knee was seen at 47" in reasons_of(draft)
    assert draft.formula.startswith("N = η · C / X₁ = 430.3 Mbit/s / 9.000 Mbit/s = 48")


@pytest.mark.parametrize(
    "changed",
    [
        # More streams share what one has: the path, or what is left of it, is the limit.
        {"rates": {1: 9, 10: 9.5, 30: 9.4}},
        # The window observed is the rate.
        {"rates": {1: 9, 10: 90, 30: 270}, "observed": 152_438},
    ],
)
def test_streams_that_share_or_have_small_windows_are_not_limited_each(make, changed):
    assert "tcp-per-flow-limit" not in by_rule(shaped(make, **changed))
