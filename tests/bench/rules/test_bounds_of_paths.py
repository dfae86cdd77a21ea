"""No capacity that is told ends below what came through, by whichever means, and each is told once of a way."""

import dataclasses
import itertools

import pytest

from apps.bench import network, tools
from apps.bench.rules import path
from apps.bench.rules.base import Evidence, FindingDraft, LinkFacts, PathFacts
from apps.bench.rules.passed import Passed
from apps.bench.rules.path import means
from apps.bench.rules.tcp import lines
from apps.bench.rules.tcp.path import read_capacity
from apps.bench.units import percent
from tests.bench.rules.cases import Maker, evidence

# Loads of UDP (Mbit/s) with what of each was lost: the published ones, of which less arrives the more is offered.
PUBLISHED = {400: 0.0005, 450: 0.30, 622: 0.80}
LEVEL = {300: 0.0, 400: 0.0, 500: 0.12, 600: 0.267}


def loads(make: Maker, lost: dict[int, float]) -> list:
    return [
        make.udp(rate * 1e6 * (1 - loss), loss, rate=rate * 10**6, length=1448, duration=10)
        for rate, loss in lost.items()
    ]


def dispersion(make: Maker, low: float, high: float):
    figures = {"capacity_low": low * 1e6, "capacity_high": high * 1e6, "variation": 0.05}
    return make.point(tools.get("pathrate"), {}, figures)


def told(measurements: Evidence, rule: str = "path-capacity") -> list[FindingDraft]:
    return [draft for draft in path.findings(measurements) if draft.rule == rule]


@pytest.mark.parametrize(
    ("lost", "ends", "tcp", "elsewhere"),
    [
        *itertools.product(
            (PUBLISHED, LEVEL, None), ((440, 447), (450, 457), None), (300, 441, 451.5, 600), (0, 457.7)
        )
    ],
)
def test_no_capacity_ends_below_a_bound_that_it_names(lost, ends, tcp, elsewhere):
    make = Maker()
    points = loads(make, lost) if lost else []
    points += [dispersion(make, *ends)] if ends else []
    points += make.stream_sweep({count: [tcp, tcp * 1.001] for count in (1, 2, 4)})
    measurements = evidence(points, PathFacts())
    if elsewhere:
        measurements = dataclasses.replace(measurements, elsewhere=Passed(elsewhere * 1e6, "another"))
    readings = means.read_means(measurements)
    bounds = [item.low for item in readings if item.is_bound]
    for draft in told(measurements):
        assert draft.low is not None and draft.value is not None
        assert min(draft.value, draft.low) >= max([*bounds, lines.whole_of(measurements)]) * (1 - 1e-9)
        # What speaks against it says so, whatever the difference.
        against = " ".join(map(str, draft.against))
        for item in readings:
            if item.means == means.DISPERSION and max(bounds) > 1.01 * item.high:
                assert "though more came through" in against


def of_roles(*groups: list, way: tuple[int, ...] = (1, 2)) -> list[Evidence]:
    """Return evidence of one way that was measured in several roles, each with the others beside it."""
    own = [Evidence(tuple(points), PathFacts(), way=way) for points in groups]
    return [
        dataclasses.replace(item, beside=(*own[:place], *own[place + 1 :]), elder=place)
        for place, item in enumerate(own)
    ]


@pytest.mark.parametrize("order", [0, 1])
def test_means_whose_receiver_is_the_client_meet_the_others_of_their_way(order):
    make = Maker()
    groups = [loads(make, PUBLISHED), [dispersion(make, 440, 447)]][:: -1 if order else 1]
    drafts = [draft for item in of_roles(*groups) for draft in path.findings(item)]
    (capacity,) = [draft for draft in drafts if draft.rule == "path-capacity"]
    assert not [text for text in map(str, capacity.missing) if "UDP" in text or "dispersion" in text]
    assert not [item for item in capacity.proposals if item.tool in ("iperf3-udp", "pathrate")]
    assert (capacity.low, capacity.high) == (400e6, 447e6)
    assert "path-datagrams" not in {draft.rule for draft in drafts}


def test_the_other_way_is_not_of_this_one():
    make = Maker()
    forth, back = of_roles(loads(make, LEVEL), [dispersion(make, 440, 447)])
    back = dataclasses.replace(back, way=(2, 1), beside=(dataclasses.replace(forth, beside=()),))
    forth = dataclasses.replace(forth, beside=(dataclasses.replace(back, beside=()),))
    assert [draft.rule for draft in path.findings(forth)] == ["path-datagrams"]
    assert [draft.rule for draft in path.findings(back)] == ["path-capacity"]


GIGABIT = PathFacts(1e9, 0.0048, 9000)


def moved(make: Maker, *rates: float, **parameters):
    """Return transfers of files at some rates (Mbit/s)."""
    tool = tools.get("gridftp")
    return make.point(tool, {"streams": 4, **parameters}, *({"throughput": rate * 1e6 / 8} for rate in rates))


@pytest.mark.parametrize(
    ("by_transfers", "by_tcp", "by_others"),
    [*itertools.product((None, 300, 700, 897, 975), (None, 300, 700), (0, 700, 980))],
)
def test_nothing_came_near_a_link_is_said_where_nothing_did(by_transfers, by_tcp, by_others):
    """By whichever tool, here or in another campaign; and no plateau stands below what a transfer had."""
    make = Maker()
    points = [make.ping(0.0048)]
    points += [moved(make, by_transfers, 1.002 * by_transfers)] if by_transfers else []
    if by_tcp:
        points += make.stream_sweep({count: [by_tcp, by_tcp * 1.001] for count in (1, 2, 4)})
    measurements = evidence(points, GIGABIT)
    if by_others:
        measurements = dataclasses.replace(measurements, elsewhere=Passed(by_others * 1e6, "another"))
    capacity = read_capacity(measurements)
    rates = [by_transfers or 0, by_tcp or 0, by_others]
    if max(rates) >= 897:
        assert "nothing measured has come near" not in str(capacity.source)
    if by_transfers and by_transfers >= 897:
        assert (capacity.value, capacity.is_open) == (1e9, False)
    if not capacity.is_stated:
        assert capacity.value >= max(rates) * 1e6 / 1.05


def test_a_lone_transfer_or_one_between_several_nodes_confirms_no_link():
    make = Maker()
    several = dataclasses.replace(moved(make, 950, 951), roles={"source": ("a", "b"), "destination": ("c", "d")})
    for point in (moved(make, 950), several):
        assert read_capacity(evidence([make.ping(0.0048), point], GIGABIT)).is_stated


NARROW = PathFacts(622e6, 0.0048, 1500, (LinkFacts("wan", 622e6),), "wan")
WITH_JUMBO = dataclasses.replace(NARROW, mtu=9000)


def with_others(measurements: Evidence, rate: float) -> Evidence:
    return dataclasses.replace(measurements, elsewhere=Passed(rate * 1e6, "another"))


@pytest.mark.parametrize(("is_own", "links"), [*itertools.product((True, False), (NARROW, WITH_JUMBO))])
def test_payload_is_told_at_the_line_with_its_headers(is_own, links):
    """Here or in another campaign, the share of the link is that of frames, not of what they bear."""
    make = Maker()
    most = 451.0 if is_own else 302
    sweep = make.stream_sweep({1: [300, 300.3], 2: [most, most * 1.001]})
    measurements = evidence([dispersion(make, 440, 447), *sweep], links)
    measurements = measurements if is_own else with_others(measurements, 451.5)
    (capacity,) = told(measurements)
    best = means.read_means(measurements)[-1]
    line = means.at_line(measurements, best)
    assert line >= best.high / network.udp_efficiency(links.mtu)
    assert f"{percent(line / 622e6)} % of it at the line" in " ".join(map(str, capacity.why))


@pytest.mark.parametrize(
    ("ends", "by_tcp", "by_others"),
    [*itertools.product(((440, 447), (450, 457)), (300, 440, 451.5), (0, 443, 457.7, 460))],
)
def test_a_bound_that_lifts_dispersion_leaves_it_open_wherever_a_capacity_is_told(ends, by_tcp, by_others):
    """What more came through, by however little, ends nothing; and every reader takes dispersion so or not at all."""
    make = Maker()
    sweep = make.stream_sweep({1: [by_tcp, by_tcp * 1.001]})
    measurements = evidence([make.ping(0.0048), dispersion(make, *ends), *sweep], PathFacts())
    measurements = with_others(measurements, by_others) if by_others else measurements
    (draft,) = told(measurements)
    is_lifted = max(by_tcp * 1.0005, by_others) > ends[1]
    capacity_read = read_capacity(measurements)
    assert (draft.high is None) == capacity_read.is_open
    assert draft.high is None or not is_lifted
    assert draft.high is None or (draft.high, capacity_read.value) == (ends[1] * 1e6, ends[1] * 1e6)
    assert ("or more" in str(draft.title)) == (draft.high is None)


@pytest.mark.parametrize("own", [470, 800, 860, 940])
def test_another_campaign_alone_is_no_agreement_of_measurements_with_a_link(own):
    make = Maker()
    links = PathFacts(1e9, 0.0048, 1500, (LinkFacts("one", 1e9), LinkFacts("two", 1e9)), "one")
    sweep = make.stream_sweep({1: [own, own * 1.001]})
    drafts = told(with_others(evidence(sweep, links), 943.7), "path-bottleneck")
    assert bool(drafts) == (own >= 860)
    assert all("agree" in str(draft.title) for draft in drafts)
    # More than a link is said to carry refutes it, whoever measured it.
    (doubt,) = told(with_others(evidence(sweep, links), 1200), "path-bottleneck")
    assert "not what the inventory says" in str(doubt.title)
