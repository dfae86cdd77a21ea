"""A command that a finding gives asks for all that its rate was measured with, and the sender does not do itself."""

import functools
import itertools
import random
import shlex

import pytest

from apps.bench.rules import ask_ends, folding
from apps.bench.rules.base import PathFacts
from apps.bench.rules.presence import CONGESTION
from apps.bench.rules.runner import drafts_of
from tests.bench.rules.cases import Maker, evidence
from tests.rotation import part_of

# One process asks once for all tests.
pytestmark = pytest.mark.xdist_group("commands")

CEILING, AS_PREDICTED = 0.9415, 0.02
FACTORS = {
    "window": [0, 65536, 2**18, 2**20, 2**22, 2**24],
    "streams": [1, 2, 4, 8, 16],
    "congestion": ["cubic", "reno", "bbr"],
    "mss": [536, 1000, 1448],
    "pace": [0, 50_000_000, 400_000_000],
    "direction": ["forward", "reverse"],
}
PAIRS = [("window", "congestion"), ("streams", "congestion"), ("window", "streams"), ("window", "mss"),
         ("streams", "mss"), ("window", "pace"), ("streams", "pace"), ("window", "direction")]  # fmt: skip
VALUED = {"-w": "window", "-P": "streams", "-C": "congestion", "-M": "mss", "-b": "pace", "-c": ""}
USUAL = {"window": 0, "streams": 1, "mss": 0, "pace": 0, "direction": "forward"}
SEEDS = part_of(range(30))


class World:
    """Draws a sweep of two factors, whose rates follow a window, a control's own limit, segments and a line."""

    def __init__(self, pair, seed):
        chance = random.Random(f"{pair} {seed}")
        self.line, self.rtt = chance.choice((1e9, 1e10)), chance.choice((0.0048, 0.02, 0.08))
        self.own = chance.choice(("cubic", "reno", "bbr", None))
        self.automatic = chance.choice((98304, 393216, 6 * 2**20))
        self.limits = {"cubic": chance.uniform(0.2, 0.7), "reno": chance.uniform(0.05, 0.4),
                       "bbr": chance.uniform(0.8, 0.94)}  # fmt: skip
        make, count, noise = Maker(), chance.choice((1, 2, 3, 5)), chance.choice((0.01, 0.03))
        self.means = {}
        points = [make.ping(self.rtt)]
        for values in itertools.product(*(FACTORS[name] for name in pair)):
            setting = dict(zip(pair, values, strict=True))
            rates = [self.rate(setting) * chance.gauss(1, noise) for _turn in range(count)]
            points.append(make.tcp(rates, observed=self.automatic, rtt=self.rtt, duration=10, **setting))
            self.means[self.key(setting)] = sum(rates) / len(rates)
        facts = {CONGESTION: self.own} if self.own else {}
        self.evidence = evidence(points, PathFacts(self.line, self.rtt, 1500), client=facts, server=facts)

    def rate(self, setting):
        streams, segment = setting.get("streams", 1), (setting.get("mss") or 1448) / 1448
        window = setting.get("window") or self.automatic
        control = setting.get("congestion") or self.own or "cubic"
        limits = [streams * window * 8 / self.rtt, streams * self.limits[control] * self.line * segment,
                  CEILING * self.line * segment**0.05, setting.get("pace") or self.line]  # fmt: skip
        return min(limits) * (0.6 if setting.get("direction") == "reverse" else 1)

    def key(self, setting):
        """Return a setting as a key: without a control of its own it has the sender's."""
        asked = {**USUAL, "congestion": self.own, **{name: value for name, value in setting.items() if value != ""}}
        return repr(sorted((name, str(value)) for name, value in asked.items()))

    @functools.cached_property
    def findings(self):
        answers = ask_ends(self.evidence)
        assert not [answer.failure for answer in answers if answer.failure]
        found = folding.fold_ends(drafts_of(answers), self.evidence)
        return [item for draft in found for item in (draft, *draft.parts)]


@functools.cache
def world_of(pair, seed):
    return World(pair, seed)


def setting_of(command):
    """Return what a command line asks for."""
    words = iter(shlex.split(command)[1:])
    asked = {}
    for word in words:
        if word == "-R":
            asked["direction"] = "reverse"
        elif word == "--bidir":
            asked["direction"] = "both"
        else:
            name, text = VALUED[word], next(words)
            asked |= {name: text if name == "congestion" else int(text)} if name else {}
    if "pace" in asked:
        asked["pace"] *= asked.get("streams", 1)
    return asked


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_command_has_the_rate_that_is_predicted_of_it(pair):
    for seed in SEEDS:
        world = world_of(pair, seed)
        for draft in world.findings:
            if not draft.change.startswith("iperf3 ") or not draft.predicted:
                continue
            rate = world.means.get(world.key(setting_of(draft.change)))
            assert rate == pytest.approx(draft.predicted, rel=AS_PREDICTED), (seed, draft.title, draft.change)
            if draft.undo and draft.present:
                before = world.means.get(world.key(setting_of(draft.undo)))
                assert before == pytest.approx(draft.present, rel=AS_PREDICTED), (seed, draft.title, draft.undo)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_proof_measures_what_is_predicted_and_what_there_is(pair):
    for seed in SEEDS:
        world = world_of(pair, seed)
        for draft in world.findings:
            if draft.proof is None or draft.proof.metric != "goodput" or not draft.predicted:
                continue
            rate = world.means.get(world.key(draft.proof.then))
            assert rate is None or rate == pytest.approx(draft.predicted, rel=AS_PREDICTED), (seed, draft.title)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[1] in ("congestion", "mss", "pace")], ids="-".join)
def test_title_or_limits_name_what_else_was_asked_for(pair):
    for seed in SEEDS:
        world = world_of(pair, seed)
        for draft in world.findings:
            asked = setting_of(draft.change) if draft.change.startswith("iperf3 ") else {}
            for name in {"congestion", "mss", "pace"} & asked.keys():
                text = str([draft.title.params, *(limit.params for limit in draft.limits)])
                assert (asked[name] if name == "congestion" else f"{name} = ") in text, (seed, draft.title)


def test_commands_of_several_kinds_were_held_against_what_was_measured():
    seen, options = set(), set()
    for pair in PAIRS:
        for seed in SEEDS:
            for draft in world_of(pair, seed).findings:
                if draft.change.startswith("iperf3 ") and draft.predicted:
                    seen.add(draft.rule)
                    options |= setting_of(draft.change).keys()
    assert seen >= {"tcp-window-knee", "tcp-streams", "tcp-best-setting"}, seen
    assert options >= {"window", "streams", "congestion"}, options
