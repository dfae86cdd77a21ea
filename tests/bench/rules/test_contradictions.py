"""Each kind of evidence that contradicts findings, against each finding: it is told there, or the finding yields."""

import dataclasses
import itertools
import re

import pytest

from apps.bench.rules import path, tcp
from apps.bench.rules.base import DOUBT, RECOMMENDATION, LinkFacts, PathFacts
from apps.bench.rules.tcp import contradictions, rivals
from apps.bench.rules.tcp.present import read_all
from tests.bench.rules.cases import KIB, Maker, evidence

MIB, RTT = KIB * KIB, 0.02
# What a share of loss that is told leaves one stream at the most (bit/s).
LEFT = 1e8
LINKS = PathFacts(1e9, RTT, 1500, (LinkFacts("LAN", 1e10), LinkFacts("WAN", 1e9)), "WAN")
# What a finding that is contradicted says, by kind of the evidence.
WORDS = {
    contradictions.PROCESSOR: re.compile("processor|an end was at its limit", re.IGNORECASE),
    contradictions.RESENT: re.compile("[Ss]ent again|Loss "),
    contradictions.DATAGRAMS: re.compile("lost: by chance|loses .* by chance"),
    contradictions.QUEUE: re.compile("RTT is|with an RTT of|queue stands"),
    contradictions.MODES: re.compile("two modes"),
    contradictions.DRIFT: re.compile("first repetition to the last"),
}
# {(window, streams): Mbit/s}: windows that fill the path, level off, or fall; streams that multiply or level off.
WINDOWS = {
    "fills": {(0, 1): 300, (256 * KIB, 1): 104, (512 * KIB, 1): 208, (2 * MIB, 1): 930, (4 * MIB, 1): 931},
    "own is best": {(0, 1): 930, (256 * KIB, 1): 104, (512 * KIB, 1): 208, (2 * MIB, 1): 928, (4 * MIB, 1): 931},
    "asked only": {(256 * KIB, 1): 104, (512 * KIB, 1): 208, (MIB, 1): 400, (2 * MIB, 1): 401, (4 * MIB, 1): 400},
    "falls": {(0, 1): 200, (256 * KIB, 1): 104, (512 * KIB, 1): 208, (MIB, 1): 400, (4 * MIB, 1): 250},
    "one": {(0, 1): 52, (0, 8): 930},
    "small": {(64 * KIB, 1): 26, (128 * KIB, 1): 52, (256 * KIB, 1): 90},
    "streams": {(0, 1): 100, (0, 2): 200, (0, 4): 400, (0, 8): 800, (0, 16): 930, (0, 32): 931},
    "level": {(0, 1): 300, (0, 2): 301, (0, 4): 300, (0, 8): 299},
    "asked for by each": {(MIB, 1): 300, (MIB, 2): 600, (MIB, 4): 700, (MIB, 16): 920},
}
CONTROLS = {"": 300, "bbr": 900, "htcp": 600}


def measured(make, name):
    """Return six repetitions of each setting of a world, in which nothing contradicts anything."""
    points = [make.ping(RTT)]
    settings = WINDOWS.get(name) or {(0, 1, control): rate for control, rate in CONTROLS.items()}
    for (window, streams, *control), rate in settings.items():
        rates = [rate * 1e6 * share for share in (0.997, 1.003, 0.999, 1.001, 1.002, 0.998)]
        more = {"congestion": control[0]} if control else {}
        point = make.tcp(rates, window=window, streams=streams, rtt=RTT, duration=10, **more)
        del point.metrics["window_observed"]
        point.metrics["retransmits"] = dict.fromkeys(point.trials("goodput"), 0.0)
        points.append(point)
    return points


def of_all(points, change):
    """Return points, those of TCP with their metrics as `change` makes them of {metric: {trial: value}}."""
    return [
        dataclasses.replace(point, metrics=change(point)) if "retransmits" in point.metrics else point
        for point in points
    ]


def busy(_make, points):
    return of_all(points, lambda point: {**point.metrics, "cpu_local": dict.fromkeys(point.metrics["goodput"], 99.0)})


def lossy(_make, points):
    """Return what has more than the least rate by the loss of a twentieth of what it sends."""
    least = min(point.mean("goodput") for point in points if point.values("goodput"))

    def change(point):
        again = {
            trial: 0.05 * rate * 10 / 8 / 1448 if rate > 1.5 * least else 0.0
            for trial, rate in point.metrics["goodput"].items()
        }
        return {**point.metrics, "retransmits": again}

    return of_all(points, change)


def fastest(points):
    """Return the most that one stream had (bit/s), BBR's aside: it heeds loss little."""
    return max(
        point.mean("goodput") / point.parameters["streams"]
        for point in points
        if "mean_rtt" in point.metrics and point.parameters["congestion"] != "bbr"
    )


def chancy(make, points):
    """Return that datagrams are lost: by chance, such a share that a stream has little more than the fastest had."""
    share = (1.22 * 1448 * 8 / (RTT * fastest(points))) ** 2
    loads = [make.udp(rate * 1e6, share, rate=round(rate * 1e6), duration=1000) for rate in (50, 100, 200, 400, 900)]
    uncounted = of_all(
        points, lambda point: {name: own for name, own in point.metrics.items() if name != "retransmits"}
    )
    return [*uncounted, *loads]


def queued(_make, points):
    """Return what has more than the least rate with a queue of twice the RTT."""
    least = min(point.mean("goodput") for point in points if point.values("goodput"))

    def change(point):
        waits = 3 * RTT if point.mean("goodput") > 1.5 * least else RTT
        return {**point.metrics, "mean_rtt": dict.fromkeys(point.metrics["goodput"], waits)}

    return of_all(points, change)


def course(factors):
    def poison(_make, points):
        def change(point):
            rates = point.metrics["goodput"].items()
            return {**point.metrics, "goodput": {t: rate * f for (t, rate), f in zip(rates, factors, strict=True)}}

        return of_all(points, change)

    return poison


POISONS = {
    contradictions.PROCESSOR: busy,
    contradictions.RESENT: lossy,
    contradictions.DATAGRAMS: chancy,
    contradictions.QUEUE: queued,
    contradictions.MODES: course([1, 0.5, 1, 0.5, 1, 0.5]),
    contradictions.DRIFT: course([1.06, 1.04, 1.01, 0.99, 0.96, 0.94]),
}
NAMES = [*WINDOWS, "controls"]


def drafts_of(points, links=LINKS):
    measurements = evidence(points, links)
    return measurements, [*tcp.findings(measurements), *path.findings(measurements)]


def is_concerned(draft, kind, measurements):
    """Return whether a finding promises a gain or names a limit, and rests on what the evidence speaks against."""
    if draft.kind == DOUBT or kind in contradictions.WEIGHED.get(draft.rule, ()):
        return False
    less, more = rivals.compared(draft, measurements)
    promises = rivals.promises(draft)
    if kind == contradictions.DATAGRAMS:
        # One stream that had more shows that TCP does not lose so.
        is_open = fastest(measurements.points) < LEFT
        return is_open and draft.kind == RECOMMENDATION and draft.rule in rivals.WINDOWS and more is None
    if kind == contradictions.RESENT:
        return promises and (
            more.lost_share > 1.5 * less.lost_share if more and less else draft.rule in rivals.WINDOWS
        )
    if kind == contradictions.QUEUE:
        return promises and more is not None and more.mean("mean_rtt") > RTT > 0.9 * less.mean("mean_rtt")
    trials = {trial for item in read_all(measurements) for trial in item.trials}
    return bool({*draft.trials} & trials)


def said(draft):
    lines = [draft.title, *draft.why, *draft.against, *(item.title for item in draft.alternatives)]
    return "\n".join(map(str, lines))


@pytest.mark.parametrize(("name", "kind"), [*itertools.product(NAMES, POISONS)])
def test_evidence_against_a_finding_is_told_with_it(name, kind):
    make = Maker()
    measurements, drafts = drafts_of(POISONS[kind](make, measured(make, name)))
    concerned = [draft for draft in drafts if is_concerned(draft, kind, measurements)]
    assert [draft.rule for draft in concerned if not WORDS[kind].search(said(draft))] == []
    assert [draft.rule for draft in concerned if draft.confidence >= 0.8 and draft.subject != "loss"] == [] or (
        kind == contradictions.QUEUE
    )


def test_every_kind_of_evidence_meets_findings_and_none_is_told_without_it():
    met, rules = set(), set()
    for name, kind in itertools.product(NAMES, POISONS):
        make = Maker()
        points = measured(make, name)
        _measurements, plain = drafts_of(points)
        assert not [draft.rule for draft in plain if WORDS[kind].search("\n".join(map(str, draft.against)))]
        measurements, drafts = drafts_of(POISONS[kind](make, points))
        concerned = [draft for draft in drafts if is_concerned(draft, kind, measurements)]
        met |= {kind for draft in concerned if WORDS[kind].search("\n".join(map(str, draft.against)))}
        rules |= {draft.rule for draft in concerned}
    assert met == {*POISONS}
    assert rules >= {"tcp-bdp", "tcp-limit", "tcp-window-knee", "tcp-streams", "tcp-sysctl", "tcp-autotuning"}
    assert rules >= {"tcp-congestion", "tcp-per-flow-limit", "path-bottleneck"}


@pytest.mark.parametrize(("end", "load"), [*itertools.product(("cpu_local", "cpu_remote"), (91.0, 99.0))])
def test_a_full_processor_of_a_row_is_that_of_a_run(end, load):
    """A table has figures, an agent's run a judge's flag: the rules say the same of both."""
    make = Maker()
    points = measured(make, "level")
    rows = of_all(points, lambda point: {**point.metrics, end: dict.fromkeys(point.metrics["goodput"], load)})
    runs = [
        dataclasses.replace(point, warnings=frozenset({"cpu-busy"})) if "retransmits" in point.metrics else point
        for point in rows
    ]
    said_of = [
        [(draft.rule, str(draft.title), draft.confidence) for draft in drafts_of(own)[1]] for own in (rows, runs)
    ]
    assert said_of[0] == said_of[1]
    titles = {rule: title for rule, title, _confidence in said_of[0]}
    assert "processor" in titles["tcp-limit"]
    streams = next(draft for draft in drafts_of(rows)[1] if draft.rule == "tcp-streams")
    assert streams.confidence < 0.8
    assert "of the path" not in said(streams)


def test_threads_of_several_streams_are_not_one_full_processor():
    make = Maker()
    points = measured(make, "streams")
    loads = of_all(
        points, lambda point: {**point.metrics, "cpu_local": dict.fromkeys(point.metrics["goodput"], 180.0)}
    )
    drafts = drafts_of([point for point in loads if point.parameters.get("streams", 4) > 2])[1]
    assert not [
        draft.rule for draft in drafts if WORDS[contradictions.PROCESSOR].search(" ".join(map(str, draft.against)))
    ]


def test_modes_that_do_not_agree_leave_no_advice():
    """The kernel's own window is faster in one mode and slower in the other."""
    make = Maker()
    points = measured(make, "own is best")[:2]
    slow = measured(make, "own is best")[2]
    upper, lower = [1, 0.3, 1, 0.3, 1, 0.3], [1, 0.9, 1, 0.9, 1, 0.9]
    mixed = course(upper)(make, points) + course(lower)(make, [slow])
    assert "tcp-autotuning" in {draft.rule for draft in drafts_of([*points, slow])[1]}
    rules = {draft.rule for draft in drafts_of(mixed)[1]}
    assert "path-modes" in rules
    assert "tcp-autotuning" not in rules


def test_a_processor_near_what_the_links_carry_does_not_show_the_path_full():
    """Where the ends held the best rate nothing shows what the path carries, however near to its links it came."""
    make = Maker()
    points = [make.ping(RTT), make.tcp([925e6, 926e6, 924e6], rtt=RTT)]
    full = next(draft for draft in drafts_of(points)[1] if draft.rule == "tcp-limit")
    assert full.subject == "path"
    points[1].metrics["cpu_local"] = dict.fromkeys(points[1].trials("goodput"), 97.0)
    held = next(draft for draft in drafts_of(points)[1] if draft.rule == "tcp-limit")
    assert held.subject == "processor"
