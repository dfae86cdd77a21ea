"""What gains by a larger window or more connections says that loss would look the same, unless that is ruled out."""

import dataclasses
import re
from pathlib import Path

import pytest

from apps.bench import rules
from apps.bench.rules import folding, runner
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, FileSystemFacts, PathFacts
from apps.bench.rules.tcp import bdp, limits, rivals, verdict
from apps.bench.rules.tcp.lost import LIKELY, RULED_OUT, UNKNOWN, lost_instead
from apps.bench.rules.tcp.present import read_all
from tests.bench.rules.cases import KIB, Maker, evidence, tools
from tests.bench.rules.storing import GPFS, MB, Storing, the
from tests.bench.rules.test_storage_options import nfs

MIB = KIB * KIB
LINKS = PathFacts(1e9, 0.02, 1500)
ZERO, NOBODY = "zero", "nobody"
# {window: (Mbit/s, segments sent again in 10 s)}: a policer at 300 Mbit/s against windows.
POLICED = {0: (120, 9000), 256 * KIB: (104, 0), 512 * KIB: (205, 10), MIB: (290, 300), 4 * MIB: (150, 8000)}
LEVEL = {0: (120, 9000), 256 * KIB: (104, 0), 512 * KIB: (205, 2), MIB: (290, 60), 2 * MIB: (291, 90)}
CAPPED = {0: (120, 9000), 4 * MIB: (122, 9000)}
SLOW = {0: (120, 9000)}
BELOW = {0: (290, 300), 256 * KIB: (104, 2600)}
# {streams: the same}: loss of 0.1 % to each, and a policer of all.
CHANCE = {1: (50, 90), 2: (100, 180), 4: (200, 360), 8: (400, 720), 16: (799, 1400), 32: (800, 1500)}
TOGETHER = {1: (120, 9000), 2: (180, 11000), 4: (250, 14000), 8: (252, 16000), 16: (250, 19000)}
UNSCALED = {1: (25, 2000), 16: (400, 9000)}
WORLDS = [
    ("policed", POLICED, "window", {}),
    ("level", LEVEL, "window", {}),
    ("capped", CAPPED, "window", {}),
    ("below", BELOW, "window", {}),
    ("chance", CHANCE, "streams", {}),
    ("together", TOGETHER, "streams", {}),
    ("asked for", CHANCE, "streams", {f"net.core.{key}": str(64 * MIB) for key in ("rmem_max", "wmem_max")}),
    ("tcp_window_scaling", UNSCALED, "streams", {"net.ipv4.tcp_window_scaling": "0"}),
    ("tcp_moderate_rcvbuf", SLOW, "window", {"net.ipv4.tcp_moderate_rcvbuf": "0"}),
]
# What a finding changes where it raises a window or the number of connections.
RAISES = re.compile(r"tcp_[rw]mem|core\.[rw]mem_max|window_scaling|moderate_rcvbuf|-w \d|-P \d|-p \d|-tcp-bs|-cc \d")


@pytest.fixture
def make():
    return Maker()


def evidence_of(make, name, sweep, factor, retransmits, facts):
    """Return evidence of a sweep {value: (Mbit/s, segments sent again)} of three runs each, and of GridFTP."""
    points = [make.ping(0.02)]
    for value, (rate, again) in sweep.items():
        rates = [rate * 1e6 * share for share in (0.995, 1, 1.005)]
        point = make.tcp(rates, rtt=0.02, duration=10, **{factor: value})
        own = point.trials("goodput")
        del point.metrics["window_observed"]
        if name == "capped" and value:
            point.metrics["window_granted"] = dict.fromkeys(own, 2.0 * 128 * KIB)
        if retransmits != NOBODY:
            point.metrics["retransmits"] = dict.fromkeys(own, 0.0 if retransmits == ZERO else float(again))
        points.append(point)
    if name == "chance":
        points += transfers(make, sweep[1][0] * 1e6 / 8)
    return evidence(points, LINKS, client=facts, server=facts)


def transfers(make, rate):
    """Return GridFTP's rates (B/s) with one stream and with four."""
    figures = {
        streams: [{"throughput": times * rate * share} for share in (0.995, 1, 1.005)]
        for streams, times in ((1, 1), (4, 1.5))
    }
    return [
        make.point(tools.get("gridftp"), {"streams": streams, "window": window}, *figures[streams])
        for streams in figures
        for window in (0, 8 * MIB)
    ]


def drafts_of(measurements):
    """Return the findings, what was folded into others, too."""
    drafts = folding.fold_ends(runner.conclude_all(rules.of_ends(), measurements), measurements)
    return [item for draft in drafts for item in (draft, *draft.parts)]


def raises(draft):
    """Return whether a finding raises a window or the number of connections, and promises something of it."""
    had = draft.present or draft.tried
    is_promise = draft.kind == RECOMMENDATION or bool(had and draft.predicted and draft.predicted > had)
    then, now = (draft.proof.then, draft.proof.now) if draft.proof else ({}, {})
    is_other = any(now.get(name) != then.get(name) for name in ("window", "streams", "concurrency"))
    return is_promise and (is_other or bool(RAISES.search(draft.change)))


def names_loss(draft):
    """Return whether an alternative is loss, and says which measurement decides."""
    text = re.compile("lost|loss|loses")
    alternatives = [item for item in draft.alternatives if text.search(str(item.title)) and item.proposal]
    return any(item.proposal.tool == "iperf3-udp" for item in alternatives)


@pytest.mark.parametrize("retransmits", ["again", NOBODY])
@pytest.mark.parametrize("world", WORLDS, ids=[world[0] for world in WORLDS])
def test_no_gain_of_window_or_streams_is_told_without_loss_beside_it(make, world, retransmits):
    name, sweep, factor, facts = world
    drafts = drafts_of(evidence_of(make, name, sweep, factor, retransmits, facts))
    assert not [draft.rule for draft in drafts if raises(draft) and not names_loss(draft)]
    flat = [str(draft.title) for draft in drafts if re.match("The TCP window is the limit:", str(draft.title))]
    assert flat == []


def test_every_rule_that_raises_a_window_or_streams_is_asked(make):
    rule_names = set()
    for name, sweep, factor, facts in WORLDS:
        for retransmits in ("again", NOBODY, ZERO):
            rule_names |= {
                draft.rule
                for draft in drafts_of(evidence_of(make, name, sweep, factor, retransmits, facts))
                if raises(draft)
            }
    assert rule_names - {"tcp-limit"} == rivals.RAISING


@pytest.mark.parametrize("world", [world for world in WORLDS if world[0] != "below"], ids=lambda world: world[0])
def test_where_nothing_was_sent_again_loss_is_ruled_out(make, world):
    name, sweep, factor, facts = world
    drafts = drafts_of(evidence_of(make, name, sweep, factor, ZERO, facts))
    assert [draft for draft in drafts if raises(draft)]
    assert not [draft.rule for draft in drafts if raises(draft) and names_loss(draft)]


def test_a_policer_is_no_window(make):
    measurements = evidence_of(make, "policed", POLICED, "window", "again", {})
    draft = verdict.conclude(measurements)
    assert (draft.subject, draft.unit) == ("loss", "%")
    assert str(draft.title).startswith("Loss is the limit of the kernel's own window: 8.")
    reasons = " ".join(map(str, draft.why))
    assert "With a window of 1 MiB 0.12 % were sent again, and it is 290.0 Mbit/s, ×2.42." in reasons
    assert "With one of 4 MiB it is 150.0 Mbit/s only" in reasons
    assert "not one that is larger" in reasons
    assert draft.predicted == pytest.approx(290e6)
    assert "the path is the limit" not in reasons
    rules_of = {item.rule for item in drafts_of(measurements) if item.kind == RECOMMENDATION}
    assert not rules_of & {"tcp-sysctl", "tcp-bdp"}


def test_without_counts_window_and_loss_are_both_told(make):
    draft = verdict.conclude(evidence_of(make, "policed", POLICED, "window", NOBODY, {}))
    assert str(draft.title).startswith("The TCP window is the limit, unless segments are lost")
    assert draft.confidence <= 0.6
    assert names_loss(draft)


def test_limits_are_not_raised_where_as_much_is_lost_as_leaves_the_rate(make):
    measurements = evidence_of(make, "together", TOGETHER, "streams", "again", {})
    for draft in (limits.conclude(measurements), bdp.conclude(measurements)):
        assert draft.kind == NO_CHANGE
        assert "so much loss leaves no more to any window" in str(draft.against[0])


def present(make, rate, again, **more):
    point = make.tcp([rate * 1e6] * 3, rtt=0.02, duration=10, **more)
    del point.metrics["window_observed"]
    if again is not None:
        point.metrics["retransmits"] = dict.fromkeys(point.trials("goodput"), float(again))
    return read_all(evidence([point]))[0]


@pytest.mark.parametrize(
    ("again", "larger", "kernel", "word"),
    [
        (None, None, {}, UNKNOWN),
        (0, None, {}, RULED_OUT),
        # So few may be those of its beginning, and leave about this rate if they are not.
        (4, None, {}, UNKNOWN),
        # By the laws of loss so many events leave far less: they are bursts, and how many of them nobody knows.
        (400, None, {}, UNKNOWN),
        (400, (290, 300), {}, UNKNOWN),
        # So much is no burst now and then.
        (9000, None, {}, LIKELY),
        # It had more though as large a share was lost: that is not by loss.
        (400, (290, 970), {}, RULED_OUT),
        (400, (290, 20), {}, LIKELY),
        # The kernel says that it waited for its window.
        (400, None, {"receiver_window_limited": 0.9}, RULED_OUT),
    ],
)
def test_what_was_sent_again_tells_loss_from_a_window(make, again, larger, kernel, word):
    less = present(make, 120, again)
    more = present(make, *larger, window=MIB) if larger else None
    if kernel:
        less = dataclasses.replace(less, point=dataclasses.replace(less.point, observed={"tcp": kernel}))
    assert lost_instead(less, more, 0.02) == word


def test_what_files_gain_by_more_under_way_has_loss_beside_it():
    facts = FileSystemFacts("fs", "nfs", None, ("S",))
    assert names_loss(the(nfs({}).evidence(facts), "storage-connections"))
    small = dataclasses.replace(GPFS, options={"socketRcvBufferSize": 65536, "socketSndBufferSize": 65536})
    draft = the(Storing().io("GPFS_PDAISY", write=13 * MB).evidence(small), "storage-gpfs-sockets")
    assert draft.predicted
    assert names_loss(draft)
    # One socket would let through more than it has: it is not the limit, and nothing is promised.
    slow = the(Storing().io("GPFS_PDAISY", write=2 * MB).evidence(small), "storage-gpfs-sockets")
    assert slow.predicted is None
    assert "one such socket allows" in str(slow.against[0])


def test_the_laws_of_loss_have_one_reader():
    folder = Path(rules.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if re.search(r"mathis_\w+\(|cubic_bps", path.read_text())]
    assert users == ["loss_law.py"]


def test_a_kernel_that_says_none_takes_no_count_back():
    make, silent = Maker(), {"bytes_retransmitted": 0, "bytes_sent": 1.25e9}
    (counted,) = make.stream_sweep({1: [100.0]}, duration=10)
    counted = dataclasses.replace(counted, metrics={**counted.metrics, "retransmits": {1: 80.0}})
    shares = [
        read_all(evidence([dataclasses.replace(counted, observed={"tcp": kernel})]))[0].lost_share
        for kernel in ({}, silent, {**silent, "bytes_retransmitted": 1.25e6})
    ]
    assert shares == [pytest.approx(80 * 1448 / 125e6), shares[0], 1e-3]
