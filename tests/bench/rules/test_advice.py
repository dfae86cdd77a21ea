"""Advice names no figure that no evidence names, lowers no limit, and says whole what to change and to take back."""

import dataclasses

import pytest

from apps.bench.rules import gridftp, path, tcp
from apps.bench.rules.base import BELOW, DIAGNOSIS, DOUBT, NO_CHANGE, RECOMMENDATION, Evidence, PathFacts, Trend
from apps.bench.rules.tcp import bdp, buffers, limits
from tests.bench.rules.cases import KIB, Maker, evidence
from tests.bench.rules.test_proposals import SITUATIONS

PROGRAMS = {"iperf3", "globus-url-copy", "cat", "sysctl", "ip", "tc", "rm", "ping", "ethtool", "set", "[", "END"}
LAN = PathFacts(100_000_000, 0.0002, 1500)


@pytest.fixture
def make():
    return Maker()


def commands(text):
    """Return the first word of each line that is a command: what stands in a file is none."""
    words, inside = [], False
    for line in text.splitlines():
        if inside or not line or line.startswith("#"):
            inside = inside and line != "END"
            continue
        words.append(line.split()[0])
        inside = "<<'END'" in line
    return words


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_change_is_a_whole_command_and_can_be_taken_back(name, make):
    situation = SITUATIONS[name](make)
    drafts = [*tcp.findings(situation), *path.findings(situation), *gridftp.findings(situation)]
    for draft in drafts:
        assert set(commands(draft.change)) <= PROGRAMS, draft.change
        assert set(commands(draft.undo)) <= PROGRAMS, draft.undo
        if draft.kind == RECOMMENDATION and draft.change:
            assert draft.undo, draft.rule


def linear(make, single, path):
    trend = Trend("iperf2", "goodput", "streams", "saturates", 50)
    measurements = Evidence((make.ping(0.1355), make.tcp(single, rtt=0.1355)), path, trends=(trend,))
    return next(draft for draft in tcp.findings(measurements) if draft.rule == "tcp-streams")


def test_one_stream_that_fills_the_path_contradicts_fifty_that_multiply(make):
    wan = PathFacts(457e6, 0.1355, 1500)
    draft = linear(make, [420e6, 421e6], wan)
    assert (draft.kind, draft.change, draft.predicted) == (DOUBT, "", None)
    assert "proportion up to 50 streams" in str(draft.against[0])
    assert "1 such streams" in str(draft.why[1]) or "2 such streams" in str(draft.why[1])
    slow = linear(make, [9e6, 9.1e6], wan)
    assert (slow.kind, slow.value) == (RECOMMENDATION, 50)


def test_a_window_that_was_tried_and_did_not_fill_the_path_speaks_against_it(make):
    links = PathFacts(1_000_000_000, 0.004, 1500)
    window_held = make.tcp([200e6, 201e6], rtt=0.004)
    roomy_point = make.tcp([300e6, 301e6], window=1024 * KIB, observed=1.4e6, rtt=0.004)
    # Eight streams show that the path holds what is said of it.
    more = make.tcp([935e6, 936e6], streams=8, observed=10**9, rtt=0.004)
    measurements = evidence([make.ping(0.004), window_held, roomy_point, more], links)
    for rule in (bdp, limits):
        draft = rule.conclude(measurements)
        assert draft.confidence <= 0.5
        assert any("had 300.5 Mbit/s only" in str(line) for line in draft.against)
        assert draft.predicted == pytest.approx(300.5e6)
    # Where it gave no more than there is, nothing is advised.
    same = make.tcp([201e6, 200e6], window=1024 * KIB, observed=1.4e6, rtt=0.004)
    measurements = evidence([make.ping(0.004), window_held, same, more], links)
    for rule in (bdp, limits):
        draft = rule.conclude(measurements)
        assert draft.kind == NO_CHANGE
        assert "no more than the kernel's own" in str(draft.against[0])
    # Nobody knows of a path that eight streams did not show: what one of them had bounds it from below only.
    assert bdp.conclude(evidence([make.ping(0.004), window_held, roomy_point], links)) is None


def test_a_short_path_gets_no_advice_on_windows_however_they_were_measured(make):
    def measured(links, rtt):
        capped = make.tcp([30e6, 31e6], window=1024 * KIB, rtt=rtt)
        capped.metrics["window_granted"] = dict.fromkeys(capped.trials("goodput"), 1200.0)
        slow = make.tcp([20e6, 20.1e6], window=KIB, rtt=rtt)
        full = make.tcp([92e6, 92.1e6], window=16 * KIB, rtt=rtt)
        automatic = make.tcp([60e6, 60.1e6], rtt=rtt)
        wide = make.tcp([93e6, 93.1e6], window=64 * KIB, rtt=rtt)
        points = [make.ping(rtt), capped, slow, full, wide, automatic]
        return evidence(points, links, client={"net.ipv4.tcp_moderate_rcvbuf": "0"})

    measurements, long = measured(LAN, 0.0002), measured(PathFacts(100_000_000, 0.02, 1500), 0.02)
    rules = {"tcp-bdp", "tcp-sysctl", "tcp-buffer-maxima", "tcp-window-knee", "tcp-autotuning"}

    def advised(item):
        return {draft.rule for draft in tcp.findings(item) if draft.kind == RECOMMENDATION} & rules

    assert advised(measurements) == set()
    assert buffers.conclude(measurements) is None
    assert {"tcp-buffer-maxima", "tcp-autotuning"} <= advised(long)


@pytest.mark.parametrize("triple", ["8192 4096 67108864", "4096 33554432 6291456", "4096 67108864"])
def test_limits_that_are_mended_are_not_lowered(make, triple):
    sysctls = {"net.ipv4.tcp_rmem": triple, "net.core.rmem_max": "67108864"}
    measurements = evidence([make.ping(0.0048), make.tcp([160e6], rtt=0.0048)], server=sysctls)
    settings = limits.make_settings(sysctls, 1_000_000)
    assert int(settings.targets["net.ipv4.tcp_rmem"].split()[2]) == max(map(int, triple.split()))
    assert settings.targets["net.core.rmem_max"] == "67108864"
    assert limits.conclude(measurements) is not None


def frames(make, client, server):
    """Return what is advised on frames where segments of 1500 B went between interfaces of these MTUs."""
    point = make.tcp([500e6], rtt=0.0048)
    point = dataclasses.replace(point, observed={"mss": 1448})
    facts = {
        role: {"interfaces": [{"name": "eth0", "state": "up", "addresses": ["192.0.2.1/24"], "mtu": mtu}]}
        for role, mtu in (("client", client), ("server", server))
    }
    measurements = dataclasses.replace(evidence([make.ping(0.0048), point]), facts=facts)
    return next((draft for draft in tcp.findings(measurements) if draft.rule == "tcp-mtu"), None)


def test_no_interface_gets_smaller_frames_than_it_has_and_each_gets_back_its_own(make):
    draft = frames(make, 9216, 1500)
    assert draft.change == "# server\nip link set dev eth0 mtu 9000\n"
    assert draft.undo == "# server\nip link set dev eth0 mtu 1500\n"
    assert frames(make, 4000, 1500).undo == (
        "# client\nip link set dev eth0 mtu 4000\n# server\nip link set dev eth0 mtu 1500\n"
    )
    assert frames(make, 9000, 9216) is None


def test_an_explicit_window_that_fills_the_path_needs_no_larger_one(make):
    links = PathFacts(1_000_000_000, 0.002, 9000)
    measurements = evidence(
        [make.ping(0.002), make.tcp([980e6, 981e6], window=1024 * KIB, observed=1.4e6, rtt=0.002)], links
    )
    draft = bdp.conclude(measurements)
    assert draft.kind == NO_CHANGE
    assert "With a window of 1 MiB one stream fills the path already" in str(draft.against[0])
    # Of the kernel's own window and of its limits nobody knows anything: there is nothing to advise.
    lines = limits.conclude(measurements)
    assert (lines.kind, lines.confidence) == (DIAGNOSIS, 0.5)
    assert "fills the path already" in str(lines.against[0])


def test_a_bound_that_a_large_window_stayed_below_speaks_against_a_larger_one(make):
    far = PathFacts(622e6, 0.1355, 1500)
    bound = dataclasses.replace(make.tcp([10e6], window=8_000_000, observed=0), statistic=BELOW)
    trend = Trend("iperf2", "goodput", "streams", "saturates", 50)
    measurements = Evidence((make.ping(0.1355), bound), far, trends=(trend,))
    draft = bdp.conclude(measurements)
    assert draft.kind == NO_CHANGE
    assert "had less than 10.00 Mbit/s: something else limits" in str(draft.against[0])


def test_a_window_slower_than_a_smaller_one_was_held_up_by_something_else(make):
    automatic = make.tcp([100e6])
    windows = make.window_sweep({64: [101], 128: [50], 256: [100]})
    assert "tcp-autotuning" not in {
        draft.rule for draft in tcp.findings(evidence([make.ping(0.005), automatic, *windows]))
    }
    slow = make.window_sweep({64: [40], 128: [60], 256: [100]})
    assert "tcp-autotuning" in {draft.rule for draft in tcp.findings(evidence([make.ping(0.005), automatic, *slow]))}
