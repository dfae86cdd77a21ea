"""A direction that surely has less than the other is told with both figures, and a path that gives little at all."""

import dataclasses
import random

import pytest

from apps.bench.rules import ask_ends, folding
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, RECOMMENDATION, Evidence, PathFacts
from apps.bench.rules.runner import drafts_of
from tests.bench.rules.cases import Maker

LINE, RTT, CEILING = 1e9, 0.02, 0.9415
SEEDS = range(30)


class Pair:
    """Draws sweeps of one pair of nodes, this way and the other, by a direction asked for or by turned roles."""

    def __init__(self, seed):
        self.chance, self.make = random.Random(seed), Maker()
        self.count, self.noise = self.chance.choice((2, 3, 5)), self.chance.choice((0.005, 0.02, 0.04))
        self.factor = self.chance.choice(("window", "streams"))
        self.is_turned = self.chance.random() < 0.5

    def sweep(self, line, *, is_back):
        values = (0, 1 << 20, 1 << 22, 1 << 23) if self.factor == "window" else (1, 2, 4, 8)
        asked = {} if self.is_turned or not is_back else {"direction": "reverse"}
        points = []
        for value in values:
            window = value if self.factor == "window" else 0
            rate = min(CEILING * line, 8 * window / RTT if window else line)
            rates = [rate * self.chance.gauss(1, self.noise) for _turn in range(self.count)]
            points.append(self.make.tcp(rates, observed=5e6, rtt=RTT, **{self.factor: value}, **asked))
        # Which way data went a turned client says no more than any other: the ends do.
        return tuple(dataclasses.replace(point, experiment=1 + is_back) for point in points)

    def evidence(self, forth, back):
        """Return what was measured forth and back between two nodes, of which either stands beside the other."""
        path = PathFacts(LINE, RTT, 1500)
        ping = self.make.ping(RTT, RTT * 1.01)
        one = Evidence((*self.sweep(forth, is_back=False), ping), path, way=(1, 2))
        other = Evidence(
            (*self.sweep(back, is_back=True), ping), path, way=(2, 1), is_back=not self.is_turned,
            told_beside=frozenset(ping.trials("rtt_min")),
        )  # fmt: skip
        return (
            dataclasses.replace(one, beside=(other,)),
            dataclasses.replace(other, beside=(one,), elder=1),
        )


def findings_of(evidence):
    answers = ask_ends(evidence)
    assert not [answer.failure for answer in answers if answer.failure]
    return folding.fold_ends(drafts_of(answers), evidence)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slower_direction_is_told_once_with_both_figures(seed):
    pair = Pair(seed)
    share = pair.chance.uniform(0.05, 0.6)
    fast, slow = pair.evidence(LINE, share * LINE)
    (finding,) = [draft for draft in findings_of(slow) if draft.rule == "path-directions"]
    assert not [draft for draft in findings_of(fast) if draft.rule == "path-directions"]
    assert finding.kind == DIAGNOSIS
    assert finding.value == pytest.approx(CEILING * share * LINE, rel=0.08)
    assert finding.title.params["fast"].endswith("Mbit/s")
    assert float(finding.title.params["fast"].split()[0]) == pytest.approx(CEILING * LINE / 1e6, rel=0.08)
    trials = {trial for point in fast.points for trial in point.trials("goodput")}
    assert trials & {*finding.trials}
    assert trials - {*finding.trials}


def test_equal_directions_are_not_told_apart():
    reasons = [
        seed
        for seed in SEEDS
        for side in Pair(seed).evidence(LINE, LINE)
        if any(draft.rule == "path-directions" for draft in findings_of(side))
    ]
    assert not reasons


@pytest.mark.parametrize("seed", SEEDS)
def test_no_pair_of_ends_that_gives_little_is_without_a_problem(seed):
    pair = Pair(seed)
    line = pair.chance.uniform(0.05, 0.7) * LINE
    evidence = Evidence((*pair.sweep(line, is_back=False), pair.make.ping(RTT)), PathFacts(LINE, RTT, 1500))
    findings = findings_of(evidence)
    problems = [draft for draft in findings if draft.kind != NO_CHANGE and not draft.is_comparison]
    assert problems, [draft.title for draft in findings]
    unexplained = [draft for draft in findings if draft.rule == "path-unexplained"]
    assert all(draft.kind == DOUBT and draft.value == pytest.approx(CEILING * line, rel=0.1) for draft in unexplained)
    assert not unexplained or {draft.rule for draft in problems} <= {"path-unexplained", "path-capacity"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_path_that_is_filled_is_not_unexplained(seed):
    side, _other = Pair(seed).evidence(LINE, LINE)
    assert not [draft for draft in findings_of(side) if draft.rule == "path-unexplained"]


SMALL, LARGE = "4096 16384 838860", "4096 131072 268435456"
WINDOW = 500_000
LIMITS = {"net.ipv4.tcp_rmem": LARGE, "net.core.rmem_max": "268435456", "net.core.wmem_max": "268435456"}
LIMITS |= {"net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_window_scaling": "1"}


def _limited(forth, counts, *, is_elder):
    """Return what a server with a small buffer sends back, beside what is sent forth (bit/s; None: not measured)."""
    make, path = Maker(), PathFacts(LINE, RTT, 1500)
    ping = make.ping(RTT, RTT * 1.01)
    facts = {"client": {"sysctls": {**LIMITS, "net.ipv4.tcp_wmem": LARGE}}}
    facts["server"] = {"sysctls": {**LIMITS, "net.ipv4.tcp_wmem": SMALL}}
    kernel = {"send_buffer_limited": 0.95, "receiver_window_limited": 0.0, "congestion_window_limited": 0.0}

    def point(rate, streams, waits, **direction):
        rates = [rate * share for share in (0.998, 1.0, 1.002)]
        reading = make.tcp(rates, streams=streams, observed=WINDOW, rtt=RTT, duration=10, **direction)
        return dataclasses.replace(reading, observed={"tcp": waits})

    backs = [point(count * WINDOW * 8 / RTT, count, kernel, direction="reverse") for count in counts]
    back = Evidence((*backs, ping), path, facts, way=(2, 1), is_back=True)
    if forth is None:
        return back, None
    told_beside = frozenset(ping.trials("rtt_min"))
    waits = {**kernel, "send_buffer_limited": 0.0, "congestion_window_limited": 0.9}
    one = Evidence((point(forth, 1, waits), ping), path, facts, way=(1, 2))
    elder = int(not is_elder)
    return (
        dataclasses.replace(back, beside=(one,), elder=elder, told_beside=told_beside),
        dataclasses.replace(one, beside=(back,), elder=1 - elder),
    )


def _advice(evidence):
    drafts = [part for draft in findings_of(evidence) for part in (draft, *draft.parts)]
    return {draft.rule: str(draft.title) for draft in drafts if draft.kind == RECOMMENDATION}


@pytest.mark.parametrize("is_elder", [True, False])
@pytest.mark.parametrize("counts", [(1,), (1, 4), (1, 2)])
@pytest.mark.parametrize("forth", [CEILING * LINE, 0.6 * LINE, 0.1 * LINE])
def test_what_one_way_has_takes_no_advice_from_the_other(forth, counts, is_elder):
    alone, _none = _limited(None, counts, is_elder=is_elder)
    back, _one = _limited(forth, counts, is_elder=is_elder)
    assert "tcp-sysctl" in _advice(alone)
    assert _advice(back) == _advice(alone)


def test_what_gains_nothing_one_way_names_it():
    _back, forth = _limited(CEILING * LINE, (1, 4), is_elder=False)
    drafts = {draft.rule: str(draft.title) for draft in findings_of(forth) if draft.kind == NO_CHANGE}
    for rule in ("tcp-bdp", "tcp-sysctl"):
        assert "gain" in drafts[rule]
        assert "rom client to server" in drafts[rule]
    lone = {draft.rule: str(draft.title) for draft in findings_of(dataclasses.replace(forth, beside=()))}
    assert not [title for title in lone.values() if "rom client" in title]
