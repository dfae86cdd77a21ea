"""What a finding proposed and was then measured is no more missing, and what it refutes is no more an alternative."""

import itertools

import pytest

from apps.bench import tools
from apps.bench.rules import ask_ends, ask_whole, runner
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION
from apps.bench.rules.path import datagrams
from apps.bench.sweep import parse_factor
from tests.bench.rules import null_worlds
from tests.bench.rules.cases import LINKS, Maker, evidence
from tests.bench.rules.null_worlds import Draw
from tests.bench.rules.storing import MB, Storing

# The figures that each proposed tool may bring: one rate, or one time, whatever is set.
METRICS = {
    "iperf3-tcp": ("goodput", (80e6, 300e6, 940e6)),
    "gridftp": ("throughput", (10e6, 100e6)),
    "osu-latency": ("latency", (0.5e-6,)),
    "osu-bandwidth": ("bandwidth", (3000e6,)),
}


def held(make):
    loads = (100, 200, 300, 400, 600, 900)
    points = [make.ping(0.0048)]
    for load in loads:
        got = min(load, 300)
        points += [make.udp(got * 1e6, 1 - got / load, rate=load * 10**6) for _trial in range(3)]
    return points


def cases():
    draw = Draw(1, 0.01, 3)
    affine = Storing()
    for placement, rate in (("same-socket", 6000), ("other-socket", 5900)):
        affine.mpi("osu-bandwidth", {"bandwidth": draw(rate * MB)}, ("n1",), placement=placement)
    transfers = null_worlds.transfers(draw, 2.0)
    return {
        "datagrams": (ask_ends, evidence(held(Maker()))),
        "window": (ask_ends, null_worlds.streams(draw, 2.0)),
        "transfers": (ask_ends, transfers),
        "sockets": (ask_whole, affine.evidence()),
    }


def measured(proposal, value, first, like):
    """Return the points of a proposal, all with one rate, by the ids from `first` on."""
    tool, (metric, _values) = tools.get(proposal.tool), METRICS[proposal.tool]
    parameters = {item.name: item for item in tool.parameters}
    axes = [
        [(name, choice) for choice in parse_factor(parameters[name], text)] for name, text in proposal.factors.items()
    ]
    make = Maker()
    make.ids = itertools.count(first)
    fixed = {name: parse_factor(parameters[name], text)[0] for name, text in proposal.fixed.items()}
    for setting in itertools.product(*axes):
        point = make.point(tool, {**fixed, **dict(setting)}, *({metric: value} for _trial in range(3)))
        yield type(point)(point.parameters, point.metrics, point.tool, like.layer, like.roles)


@pytest.mark.parametrize("name", cases())
def test_what_was_proposed_and_measured_is_no_more_missing(name):
    ask, measurements = cases()[name]
    count = 0
    for draft in runner.drafts_of(ask(measurements)):
        for proposal in draft.proposals:
            if not draft.missing or proposal.tool not in METRICS:
                continue
            for value in METRICS[proposal.tool][1]:
                more = measured(proposal, value, 10_000, measurements.points[0])
                known = type(measurements)((*measurements.points, *more), measurements.path, paths=measurements.paths)
                again = [item for item in runner.drafts_of(ask(known)) if item.rule == draft.rule]
                asked = {
                    message for item in again for message in map(str, item.missing) if proposal in item.proposals
                }
                assert not asked & {*map(str, draft.missing)}, (draft.rule, value)
                count += 1
    assert count or name == "transfers"


@pytest.mark.parametrize(
    ("rates", "titles"),
    [
        ({1: [940], 2: [940], 4: [940]}, {"policer", "socket buffer"}),
        ({1: [300], 2: [600], 4: [930]}, {"shaper", "socket buffer"}),
    ],
)
def test_what_streams_refute_is_no_alternative_of_datagrams(rates, titles):
    make = Maker()
    points = [*held(make), *make.stream_sweep({n: 3 * own for n, own in rates.items()}, observed=900_000)]
    draft = datagrams.conclude(evidence(points))
    own = [str(item.title) for item in draft.alternatives]
    for word in ("link is full", "shaper", "policer of", "socket buffer"):
        is_there = any(word in title for title in own)
        assert is_there == any(word.startswith(title) or title in word for title in titles), (word, own)
    assert "several flows" not in " ".join(map(str, draft.missing))


def test_windows_that_gain_a_transfer_nothing_refute_larger_limits():
    drafts = runner.drafts_of(ask_ends(null_worlds.transfers(Draw(1, 0.01, 5), 1.0)))
    own = {draft.rule: draft for draft in drafts}
    for rule in ("tcp-bdp", "tcp-sysctl"):
        assert own[rule].kind == NO_CHANGE
        assert "the window does not hold it" in str(own[rule].against[0])


@pytest.mark.parametrize(("rates", "is_window"), [((236, 604, 609, 606, 237), False), ((236, 240, 237, 238), True)])
def test_a_few_dips_are_not_the_windows(rates, is_window):
    make = Maker()
    points = [make.ping(0.0048), make.tcp([rate * 1e6 for rate in rates])]
    points += make.stream_sweep({n: [598, 601, 603, 599] for n in (2, 4, 8)})
    points += [make.tcp([598e6, 601e6, 603e6], window=2**20)]
    kinds = {draft.rule: draft.kind for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}
    assert (RECOMMENDATION in {kinds.get("tcp-bdp"), kinds.get("tcp-sysctl")}) == is_window


@pytest.mark.parametrize(("rate", "is_told"), [(940, False), (600, True)])
def test_what_a_stream_had_is_left_to_it(rate, is_told):
    make, lost = Maker(), 0.002 if is_told else 0.001
    points = [make.ping(0.0048)]
    points += [make.udp(load * 1e6 * (1 - lost), lost, rate=load * 10**6) for load in (50, 100, 200) * 3]
    points.append(make.tcp([rate * 1e6] * 3, observed=900_000))
    drafts = [draft for draft in runner.drafts_of(ask_ends(evidence(points))) if draft.rule == "path-loss"]
    said = " ".join(str(line) for draft in drafts for line in draft.why)
    assert "whatever its window" not in said
    assert ("one had 600.0 Mbit/s" in said) == is_told
