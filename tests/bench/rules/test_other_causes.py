"""What looks like the path and is something else: each case is taken for the path only where that is ruled out."""

import dataclasses
import subprocess

import pytest

from apps.bench import rules
from apps.bench.rules import pace, path, runner, tcp
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, LinkFacts, PathFacts
from apps.bench.rules.tcp import bdp, buffers, limits, pacing, verdict, window
from apps.bench.rules.tcp.path import read_capacity
from tests.bench.rules.cases import KIB, Maker, evidence, tools

TEN = PathFacts(10_000_000_000, 0.0048, 9000)
NOTHING = PathFacts()


@pytest.fixture
def make():
    return Maker()


def flagged(point, *names, trials=None):
    """Return a point with flags of its trials, of all unless some are named."""
    own = frozenset(trials if trials is not None else point.trials("goodput"))
    return dataclasses.replace(point, warnings=frozenset(names), flagged=dict.fromkeys(names, own))


def dispersion(make, low, high):
    return make.point(tools.get("pathrate"), {}, {"capacity_low": low, "capacity_high": high})


def levelled(make, rates, *flags):
    """Return a sweep of streams whose last counts are level, each of whose trials may have flags."""
    return [flagged(point, *flags) for point in make.stream_sweep(rates)]


LEVEL = {1: [900, 905], 2: [1800, 1810], 4: [2300, 2310], 8: [2300, 2305], 16: [2305, 2310]}


def test_streams_that_level_off_show_the_capacity_where_no_end_was_at_its_limit(make):
    capacity = read_capacity(evidence([make.ping(0.0048), *levelled(make, LEVEL)], TEN))
    assert capacity.value == pytest.approx(2.3e9 / 0.991, rel=0.01)
    assert "more streams give no more" in str(capacity.source)


@pytest.mark.parametrize("metric", ["cpu_local", "cpu_remote"])
def test_ends_that_nobody_watched_may_be_what_levels_off(make, metric):
    """Of links that are said to have more: a processor at its limit looks the same."""
    points = [
        dataclasses.replace(point, metrics={name: own for name, own in point.metrics.items() if name != metric})
        for point in levelled(make, LEVEL)
    ]
    capacity = read_capacity(evidence([make.ping(0.0048), *points], TEN))
    assert capacity.is_open or capacity.is_stated
    drafts = runner.conclude_all(rules.of_ends(), evidence([make.ping(0.0048), *points], TEN))
    assert not [draft for draft in drafts if "The path is the limit" in str(draft.title)]


@pytest.mark.parametrize("flag", sorted(pace.ENDS))
def test_streams_that_an_end_held_are_no_evidence_of_the_path(make, flag):
    measurements = evidence([make.ping(0.0048), *levelled(make, LEVEL, flag)], TEN)
    assert read_capacity(measurements).value == 10e9
    titles = [str(draft.title) for draft in tcp.findings(measurements)]
    assert not [title for title in titles if "path is the limit" in title]


def test_one_stream_that_levels_off_is_no_capacity_of_the_path(make):
    # A shaper of each flow looks the same.
    points = [make.tcp([457e6], window=2**20, observed=1.4e6), make.tcp([457e6], window=2**22, observed=5e6)]
    capacity = read_capacity(evidence([make.ping(0.0048), *points]))
    assert capacity.is_lower_bound
    assert "nothing yet confirms" in str(capacity.source)
    assert bdp.conclude(evidence([make.ping(0.0048), *points])) is None


def test_trials_that_something_passing_held_up_are_left_out(make):
    point = make.tcp([980e6, 500e6, 978e6])
    disturbed = flagged(point, "processor-full", trials=[2])
    assert pace.undisturbed(disturbed).values("goodput") == [980e6, 978e6]
    assert not pace.flags_of(pace.undisturbed(disturbed))
    # As fast with the flag as without it: the flag is of the setting.
    alike = flagged(make.tcp([980e6, 979e6]), "processor-full", trials=[4])
    assert pace.undisturbed(alike) == alike


def test_a_window_that_fills_the_queue_is_not_the_limit(make):
    # Its rate agrees with the window over the RTT under load, which is longer than the idle one.
    queued = make.tcp([300e6], observed=0.02 * 300e6 / 8, rtt=0.02)
    assert verdict.conclude(evidence([make.ping(0.0048), queued])) is None
    idle = make.tcp([300e6], observed=0.0048 * 300e6 / 8, rtt=0.0048)
    assert verdict.conclude(evidence([make.ping(0.0048), idle])).subject == "window"


def test_no_gain_is_predicted_that_no_larger_window_had(make):
    draft = verdict.conclude(evidence([make.ping(0.0048), make.tcp([160e6], rtt=0.0048)]))
    assert (draft.subject, draft.predicted, draft.predicted_interval) == ("window", None, None)
    lines = limits.conclude(evidence([make.ping(0.0048), make.tcp([160e6], rtt=0.0048)]))
    assert lines.predicted is None


def test_a_path_shorter_than_a_small_window_gets_no_advice_on_windows(make):
    measurements = evidence([make.ping(0.0001), make.tcp([90e6])], PathFacts(100_000_000))
    assert bdp.conclude(measurements).kind == NO_CHANGE
    assert bdp.conclude(measurements).proof is None
    assert limits.conclude(measurements) is None


@pytest.mark.parametrize("present", ["67108864", "1024"])
def test_lines_for_unknown_nodes_only_raise_and_can_be_taken_back(make, tmp_path, present):
    measurements = evidence([make.ping(0.0048), make.tcp([166e6], rtt=0.0048)])
    capped = make.tcp([166e6], window=4 * KIB * KIB)
    capped.metrics["window_granted"] = dict.fromkeys(capped.trials("goodput"), 425_984.0)
    for draft in (limits.conclude(measurements), buffers.conclude(evidence([make.ping(0.0048), capped]))):
        kernel = _Kernel(tmp_path / draft.rule, present)
        before = kernel.read()
        kernel.run(draft.change)
        after = kernel.read()
        for key, text in before.items():
            assert all(int(new) >= int(old) for old, new in zip(text.split(), after[key].split(), strict=True)), key
        assert (before == after) == (present == "67108864")
        kernel.run(draft.undo)
        assert kernel.read() == before
        assert not list(kernel.folder.glob("90-fathom*"))
        assert draft.proof is None


class _Kernel:
    """A folder of sysctls, and a `sysctl` that reads and sets them as the real one does."""

    def __init__(self, folder, present):
        self.folder, self._values = folder, folder / "values"
        self._values.mkdir(parents=True)
        for key in ("net.core.rmem_max", "net.core.wmem_max"):
            (self._values / key).write_text(present)
        for key in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
            (self._values / key).write_text(f"512 1000 {present}")
        script = folder / "sysctl"
        script.write_text(
            f"""#!/bin/sh
cd {self._values}
case "$1" in
-n) cat "$2" ;;
-w) echo "$2" | sed 's/ *= */=/' | {{ IFS== read key value; printf %s "$value" > "$key"; }} ;;
-p) grep = "$2" | sed 's/ *= */=/' | while IFS== read key value; do printf %s "$value" > "$key"; done ;;
*) for key; do echo "$key = $(cat "$key")"; done ;;
esac
"""
        )
        script.chmod(0o755)

    def read(self):
        return {file.name: file.read_text() for file in self._values.iterdir()}

    def run(self, lines):
        text = lines.replace("/etc/sysctl.d", str(self.folder))
        subprocess.run(["sh", "-e", "-c", text], check=True, env={"PATH": f"{self.folder}:/usr/bin:/bin"})


def test_windows_that_were_all_capped_have_no_knee(make):
    points = make.window_sweep({64: [50, 51], 128: [100, 101], 256: [137, 138], 512: [137, 138], 1024: [138, 137]})
    assert window.conclude(evidence(points)) is not None
    for point in points[2:]:
        point.metrics["window_granted"] = dict.fromkeys(point.trials("goodput"), 425_984.0)
    assert window.conclude(evidence(points)) is None


def test_a_knee_without_the_automatic_window_beside_it_is_no_advice(make):
    rates = {64: [50, 51], 128: [100, 101], 256: [137, 138], 512: [137, 138], 1024: [138, 137]}
    draft = window.conclude(evidence(make.window_sweep(rates)))
    assert (draft.kind, draft.change, draft.proof) == (DIAGNOSIS, "", None)
    assert draft.proposals[0].factors["window"].startswith("0 B, ")
    better = window.conclude(evidence([*make.window_sweep(rates), make.tcp([60e6, 61e6])]))
    assert (better.change, better.proof.then["window"]) == (f"iperf3 -c SERVER -w {256 * KIB}\n", 256 * KIB)


def udp(make, loads, flag="", **parameters):
    """Return loads of UDP {Mbit/s: loss}, those that lost with a flag."""
    points = []
    for rate, loss in loads.items():
        load_bps = rate * 1e6
        point = make.point(
            tools.get("iperf3-udp"),
            {"rate": round(load_bps), **parameters},
            {"goodput": load_bps * (1 - loss), "offered_load": load_bps, "loss": loss, "out_of_order": 0.0},
        )
        points.append(flagged(point, flag) if flag and loss else point)
    return points


FULL = {200: 0.0, 500: 0.2, 800: 0.5}
WIDE = PathFacts(1e9, 0.0048, 1500, (LinkFacts("lan", 10e9), LinkFacts("wan", 1e9)), "wan")


def test_one_flow_of_datagrams_that_levels_off_is_no_capacity_by_itself(make):
    drafts = {draft.rule for draft in path.findings(evidence([make.ping(0.0048), *udp(make, FULL)], WIDE))}
    assert not {"path-capacity", "path-bottleneck"} & drafts
    points = [make.ping(0.0048), *udp(make, FULL), dispersion(make, 395e6, 420e6)]
    borne = {draft.rule: draft for draft in path.findings(evidence(points, WIDE))}
    assert borne["path-capacity"].high == pytest.approx(420e6)
    assert "Of the narrowest link as described" in str(borne["path-bottleneck"].title)


def test_a_receiver_that_drops_is_no_capacity_of_the_path(make):
    points = [make.ping(0.0048), *udp(make, FULL, "receive-buffer-full"), dispersion(make, 950e6, 1e9)]
    draft = next(draft for draft in path.findings(evidence(points, WIDE)) if draft.rule == "path-capacity")
    assert (draft.low, draft.high) == (950e6, 1e9)


def test_what_arrived_of_a_load_that_lost_some_came_through_as_well(make):
    points = [make.ping(0.0048), *udp(make, {600: 0.0, 860: 0.0, 1050: 0.0905})]
    draft = next(draft for draft in path.findings(evidence(points, WIDE)) if draft.rule == "path-capacity")
    assert (draft.low, draft.high) == (860e6, pytest.approx(955e6, rel=0.01))


def test_datagrams_that_came_whole_beat_a_dispersion_of_less(make):
    points = [make.ping(0.0048), *udp(make, {400: 0.0, 622: 0.0}), dispersion(make, 450e6, 457e6)]
    draft = next(draft for draft in path.findings(evidence(points, NOTHING)) if draft.rule == "path-capacity")
    assert draft.low == 622e6
    assert draft.high is None
    assert "457.0 Mbit/s, though more came through" in str(draft.against[0])


def test_loss_above_what_one_flow_can_have_is_not_chance(make):
    measurements = evidence([make.ping(0.0048), *udp(make, {50: 0.0, 300: 0.5, 450: 0.667, 600: 0.75})], WIDE)
    assert "path-loss" not in {draft.rule for draft in path.findings(measurements)}


def test_pacing_is_advised_only_where_datagrams_were_seen_to_lose_nothing(make):
    def lossy(*more, rate=500e6, again=400.0, together=940e6):
        item = make.tcp([rate], observed=20e6, rtt=0.05)
        item.metrics["retransmits"] = dict.fromkeys(item.trials("goodput"), again)
        confirming = make.tcp([together], observed=30e6, rtt=0.05, streams=8)
        return evidence([make.ping(0.05), item, confirming, *more], WIDE)

    assert pacing.conclude(lossy()) is None
    # Where many streams have no more together it is not what each of them loses.
    assert pacing.conclude(lossy(*udp(make, {800: 0.0}, duration=10), together=505e6)) is None
    assert pacing.conclude(lossy(*udp(make, {800: 0.0}, duration=10))) is not None
    assert pacing.conclude(lossy(*udp(make, {800: 1e-3}, duration=10))) is None
    # Nor is a rate advised that is hardly more than what there is, nor one for a few segments of which nobody knows.
    assert pacing.conclude(lossy(*udp(make, {800: 0.0}, duration=10), rate=850e6)) is None
    assert pacing.conclude(lossy(*udp(make, {800: 0.0}, duration=10), again=3.0)) is None
    # So few datagrams would not have shown it.
    assert pacing.conclude(lossy(*udp(make, {1: 0.0}, duration=1))) is None
    # What chance loses is no burst, though TCP sends far more again.
    by_chance = udp(make, {200: 1e-4, 400: 1e-4, 600: 1e-4}, duration=10)
    assert pacing.conclude(lossy(*by_chance, *by_chance)) is None


def test_no_pace_is_advised_for_loss_that_leaves_far_more(make):
    def held_at(again):
        item = make.tcp([235e6] * 3, observed=20e6, rtt=0.0012)
        item.metrics["retransmits"] = dict.fromkeys(item.trials("goodput"), again)
        confirming = make.tcp([940e6], observed=30e6, rtt=0.0012, streams=8)
        return evidence([make.ping(0.0012), item, confirming, *udp(make, {800: 0.0}, duration=10)], WIDE)

    assert pacing.conclude(held_at(400.0)) is not None
    assert pacing.conclude(held_at(6.0)) is None


def test_a_single_stream_is_set_against_streams_of_the_same_window(make):
    sweep = make.stream_sweep({1: [10, 10], 2: [20, 20], 4: [40, 40], 8: [80, 80]}, observed=10**9)
    alone = make.tcp([60e6, 61e6], window=16 * KIB * KIB, observed=10**9)
    slow = next(
        draft
        for draft in tcp.findings(evidence([make.ping(0.0048), *sweep, alone]))
        if draft.rule == "tcp-per-flow-limit"
    )
    assert slow.value == pytest.approx(10e6)


def test_limits_that_let_another_control_through_are_not_raised(make):
    slow = make.tcp([299e6, 300e6, 301e6], rtt=0.02, congestion="cubic")
    fast = make.tcp([872e6, 874e6, 876e6], rtt=0.02, congestion="bbr")
    links = PathFacts(1_000_000_000, 0.02, 1500)
    rules_of = {
        name: [
            draft.rule for draft in runner.conclude_all(rules.of_ends(), evidence([make.ping(0.02), *points], links))
        ]
        for name, points in {"alone": [slow], "beside": [slow, fast]}.items()
    }
    assert "tcp-sysctl" in rules_of["alone"]
    assert "tcp-sysctl" not in rules_of["beside"]
