"""The path against its links: capacity, bottleneck, chance loss, interfaces, and the route."""

import dataclasses
import json
import math

import pytest

from apps.bench.rules import path, tcp
from apps.bench.rules.base import DIAGNOSIS, DOUBT, LinkFacts, PathFacts
from tests.bench.rules.cases import LINKS, UDP, Maker, evidence, tools
from tests.bench.tools import recordings

WAN = PathFacts(457e6, 0.1355, 1500, (LinkFacts("lan", 1e9), LinkFacts("WAN", 457e6)), "WAN")
LOADS = ("b100M", "b400M", "b430M", "b450M", "b457M", "b500M")


@pytest.fixture
def make():
    return Maker()


def by_rule(measurements):
    return {draft.rule: draft for draft in path.findings(measurements)}


def reasons_of(draft):
    return " ".join(str(line) for line in draft.why)


def recorded_loads(make, names=LOADS):
    """Return the recorded sweep of UDP's offered load on the emulated link of 457 Mbit/s."""
    points = []
    for name in names:
        output = recordings.load("iperf3-udp", f"{name}.json")
        start = json.loads(output.stdout)["start"]["test_start"]
        parameters = {"duration": start["duration"], "omit": start["omit"], "length": start["blksize"]}
        parameters["rate"] = int(name[1:-1]) * 10**6
        samples = {sample.metric: sample.value for sample in UDP.parse([output], UDP.clean(parameters)).samples}
        points.append(make.point(UDP, parameters, samples))
    return points


def recorded_pathrate(make, name):
    tool = tools.get("pathrate")
    samples = tool.parse([recordings.load("pathrate", name)], tool.clean({})).samples
    return make.point(tool, {}, {sample.metric: sample.value for sample in samples})


def test_the_recorded_loads_find_the_link_and_agree_with_it(make):
    drafts = by_rule(evidence([make.ping(0.1355), *recorded_loads(make)], WAN))
    assert drafts["path-capacity"].low == pytest.approx(430e6, rel=1e-2)
    assert drafts["path-capacity"].alternatives == ()
    link = drafts["path-bottleneck"]
    assert (link.kind, link.subject) == (DIAGNOSIS, "WAN")
    # The payload with its headers is 458.9 Mbit/s at the line.
    assert "agree" in str(link.title)
    assert "458.9 Mbit/s at the line are 100 %" in reasons_of(link)
    assert "lan 1" in reasons_of(link)


def test_the_recorded_dispersion_of_a_software_link_is_left_out_by_its_own_word(make):
    points = [make.ping(0.1355), *recorded_loads(make), recorded_pathrate(make, "quick_457.txt")]
    draft = by_rule(evidence(points, WAN))["path-capacity"]
    assert draft.high < 460e6
    assert "pathrate is left out" in " ".join(map(str, draft.against))
    assert by_rule(evidence([recorded_pathrate(make, "quick_457.txt")], WAN)) == {}


def test_the_recorded_dispersion_of_the_gigabit_is_taken(make):
    path_facts = PathFacts(1e9, 0.0048, 9000, (LinkFacts("WAN", 1e9),), "WAN")
    drafts = by_rule(evidence([recorded_pathrate(make, "quick_1G.txt")], path_facts))
    assert (drafts["path-capacity"].low, drafts["path-capacity"].high) == (1002e6, 1052e6)
    # The upper end is above the link's rate by what the tool resolves.
    assert "agree" in str(drafts["path-bottleneck"].title)


def test_about_the_links_rate_in_frames_of_unknown_size_agrees(make):
    link = PathFacts(1e9, 0.0048, None, (LinkFacts("WAN", 1e9),), "WAN")
    draft = by_rule(evidence([make.tcp([1e9])], link))["path-bottleneck"]
    assert "agree" in str(draft.title)


def test_a_rate_above_the_slowest_link_doubts_the_inventory(make):
    draft = by_rule(evidence([make.tcp([600e6])], WAN))["path-bottleneck"]
    assert draft.kind == DOUBT
    assert "WAN is not what the inventory says" in str(draft.title)


def test_tcp_that_reaches_little_says_nothing_of_the_bottleneck(make):
    assert by_rule(evidence([make.tcp([100e6])], WAN)) == {}
    filled = by_rule(evidence([make.tcp([425e6])], WAN))["path-bottleneck"]
    assert "agree" in str(filled.title)


def test_without_links_there_is_no_bottleneck(make):
    drafts = by_rule(evidence([make.ping(0.1355), *recorded_loads(make)], PathFacts()))
    # What one flow of datagrams has may be a limit on each flow: nothing bears it out.
    assert set(drafts) == {"path-datagrams"}


def test_tcp_that_got_more_than_udp_found_refutes_it(make):
    points = [*recorded_loads(make), make.tcp([900e6])]
    assert "path-capacity" not in by_rule(evidence(points, PathFacts()))


def test_available_bandwidth_is_a_bound_and_no_capacity(make):
    tool = tools.get("pathload")
    probes = make.point(tool, {}, {"available_bandwidth": 454e6, "available_low": 428e6, "available_high": 480e6})
    assert "path-capacity" not in by_rule(evidence([probes], WAN))
    draft = by_rule(evidence([probes, *recorded_loads(make)], WAN))["path-capacity"]
    assert "Probes found 428.0 Mbit/s … 480.0 Mbit/s available" in reasons_of(draft)


def test_loss_far_below_the_capacity_is_chance(make):
    loads = [make.udp(rate * (1 - 1e-3), 1e-3, rate=round(rate)) for rate in (50e6, 200e6)]
    draft = by_rule(evidence([make.ping(0.0048), *loads, make.tcp([601e6])], LINKS))["path-loss"]
    assert draft.value == pytest.approx(0.1)
    # Where one stream fills the path such loss limits nothing.
    assert "path-loss" not in by_rule(evidence([make.ping(0.0048), *loads, make.tcp([931e6])], LINKS))
    clean = [make.udp(50e6, 0.0, rate=50_000_000), *loads[1:]]
    assert "path-loss" not in by_rule(evidence([make.ping(0.0048), *clean, make.tcp([601e6])], LINKS))
    full = dataclasses.replace(loads[0], warnings=frozenset({"receive-buffer-full"}))
    assert "path-loss" not in by_rule(evidence([make.ping(0.0048), full, make.tcp([601e6])], LINKS))


# Of this load 3,000 datagrams of 1,448 B are sent in a second.
SECOND = 3000 * 1448 * 8


def up_to(lost, sent, share):
    """Return the chance that no more than so many of those sent are lost, each by this share."""
    ways = (math.lgamma(sent + 1) - math.lgamma(k + 1) - math.lgamma(sent - k + 1) for k in range(lost + 1))
    return sum(math.exp(way + k * math.log(share) + (sent - k) * math.log1p(-share)) for k, way in enumerate(ways))


def of_counts(make, counts, *, rtt=0.0048, tcp=80e6):
    """Return what is said of loss where of 3,000 datagrams so many were lost in each run, of 6,000 twice as many."""
    loads = [
        make.point(
            UDP,
            {"rate": times * SECOND, "duration": 1, "length": 1448},
            *({"goodput": times * SECOND * (1 - lost / 3000), "loss": lost / 3000} for lost in counts),
        )
        for times in (1, 2)
    ]
    return by_rule(evidence([make.ping(rtt), *loads, make.tcp([tcp], rtt=rtt)], LINKS)).get("path-loss")


@pytest.mark.parametrize("counts", [(1,), (2,), (1, 0, 1), (1, 0, 0), (30, 1, 1), (20, 0, 0, 0)])
def test_few_lost_datagrams_or_those_of_one_run_carry_no_share(make, counts):
    assert of_counts(make, counts) is None


@pytest.mark.parametrize("counts", [(10,), (30,), (10, 12, 9), (3, 4, 2, 5, 3)])
def test_a_share_that_is_carried_is_told_with_its_interval(make, counts):
    draft = of_counts(make, counts)
    lost, sent = (int(draft.title.params[name]) for name in ("lost", "sent"))
    # The larger of the loads counts as well where nothing shows that so much came through whole.
    assert (lost, sent) in ((sum(counts), 3000 * len(counts)), (3 * sum(counts), 9000 * len(counts)))
    assert draft.value == pytest.approx(100 * lost / sent)
    # Were the share at an end of the interval, so few or so many would be lost in about one of forty times.
    assert 0.01 < 1 - up_to(lost - 1, sent, draft.low / 100) < 0.06
    assert 0.01 < up_to(lost, sent, draft.high / 100) < 0.06
    assert f"Lost were {lost} of {sent} datagrams" in reasons_of(draft)


def test_loss_that_holds_nothing_that_was_measured_is_not_told(make):
    assert of_counts(make, (9, 9, 9)) is not None
    # On a short path so much loss leaves more than the path holds; and streams that had more do not lose so.
    assert of_counts(make, (9, 9, 9), rtt=0.0002) is None
    assert of_counts(make, (9, 9, 9), tcp=800e6) is None
    # What datagrams lose themselves matters to them.
    assert of_counts(make, (60, 60, 60), rtt=0.0002) is not None


def test_the_recorded_clean_path_loses_nothing_by_chance(make):
    assert "path-loss" not in by_rule(evidence([make.ping(0.1355), *recorded_loads(make)], WAN))


def interfaces(make, **changes):
    """Return evidence of a client with one physical interface."""
    own = {
        "name": "eth0", "kind": "", "state": "up", "addresses": ["192.0.2.1/24"], "speed_bps": 1_000_000_000,
        "duplex": "full",
    } | changes  # fmt: skip
    links = PathFacts(1e9, 0.0048, 9000, (LinkFacts("access", 1e9), LinkFacts("WAN", 1e9)), "WAN")
    measurements = evidence([make.tcp([90e6])], links)
    return dataclasses.replace(
        measurements, facts={"client": {"interfaces": [own, {"name": "lo", "state": "up"}, "junk"]}}
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"duplex": "half"}, "half duplex"), ({"speed_bps": 100_000_000}, "fastest interface has 100 Mbit/s")],
)
def test_an_interface_that_does_not_fit_its_link_is_named(make, changes, words):
    draft = by_rule(interfaces(make, **changes))["path-interface"]
    assert words in reasons_of(draft)
    assert "What the switch says" in str(draft.missing[0])


@pytest.mark.parametrize(
    "changes", [{}, {"kind": "tun", "duplex": "half"}, {"state": "down", "duplex": "half"}, {"speed_bps": None}]
)
def test_interfaces_that_fit_or_are_no_wire_say_nothing(make, changes):
    assert "path-interface" not in by_rule(interfaces(make, **changes))


ONE, OTHER = [["10.0.0.1"], ["10.0.1.1"], ["10.9.0.2"]], [["10.0.0.1"], ["10.0.2.1"], ["10.0.3.1"], ["10.9.0.2"]]


def sighted(make, *routes):
    points = []
    for place, route in enumerate(routes):
        point = make.tcp([980e6 if route == ONE else 400e6])
        observed = {"context": {"before": {"route": route}}} if place % 2 else {"route": route}
        points.append(dataclasses.replace(point, observed=observed, at=1000.0 * place))
    return evidence(points)


def test_a_route_that_changed_is_told_with_the_rates_of_each_way(make):
    draft = by_rule(sighted(make, ONE, ONE, OTHER))["path-route"]
    assert (draft.kind, draft.value) == (DOUBT, 2)
    assert "The route changed at hop 2" in reasons_of(draft)
    assert "Way 1: 980.0 Mbit/s on average (n = 2)." in reasons_of(draft)
    assert "Way 2: 400.0 Mbit/s on average (n = 1)." in reasons_of(draft)


def test_a_route_that_stayed_or_was_seen_once_says_nothing(make):
    assert "path-route" not in by_rule(sighted(make, ONE, ONE))
    assert "path-route" not in by_rule(sighted(make, OTHER))
    assert "path-route" not in by_rule(evidence([make.tcp([1e8])]))


@pytest.mark.parametrize("family", [path, tcp])
def test_damaged_facts_and_observations_break_nothing(make, family):
    junk = {"tcp": "x", "context": [], "route": 5, "mss": "y"}
    points = [dataclasses.replace(make.tcp([5e8]), observed=junk), make.ping(0.0048)]
    facts = {"client": {"interfaces": "x", "sysctls": {"a": 1}, "congestion_controls": []}, "server": {}}
    assert isinstance(family.findings(dataclasses.replace(evidence(points), facts=facts)), list)
