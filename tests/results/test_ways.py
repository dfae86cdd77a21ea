"""Which way data went is part of a pair, whoever reads figures: an asymmetric path, measured in every way."""

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

import apps
from apps.archive.search import entries
from apps.bench import tools
from apps.bench.toolkit import Tool, goes_back
from apps.bench.toolkit.ways import BACK
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.reports.overview import figures, scope, selection
from apps.results import queries, ways
from apps.results.addresses import point_key
from apps.testbeds.models import Node
from apps.tuning import evidence
from apps.tuning.models import Finding
from apps.tuning.services.findings import refresh_findings
from tests.campaigns import factories as make
from tests.results.factories import measure

# Sites and nodes; what the path carries forth and back (bit/s), between these.
HERE, THERE = "Daejeon", "Busan"
RATES = {("kisti01", "pnu01"): 100e6, ("pnu01", "kisti01"): 900e6}
SITES = {"kisti01": HERE, "pnu01": THERE}
# How a tool is told to send back, and the value with which it does not.
TURNS = {
    "iperf3-tcp": ("direction", "forward", "reverse"),
    "nuttcp": ("direction", "forward", "reverse"),
    "netperf": ("test", "TCP_STREAM", "TCP_MAERTS"),
}
# Both ways by a factor; each by an experiment of its own; one from the other end; both at once.
LAYOUTS = ("factor", "fixed", "turned", "at-once")
# Only iperf3 sends both ways at once.
CASES = [(tool, layout) for tool in TURNS for layout in LAYOUTS if layout != "at-once" or tool == "iperf3-tcp"]

Told = dict[tuple[str, str], float]


@pytest.fixture
def pair(cast: SimpleNamespace) -> list[Node]:
    """Return two nodes of two sites joined by a link of 1 Gbit/s."""
    [here], [there] = make.nodes(cast.team, "kisti01", site=HERE), make.nodes(cast.team, "pnu01", site=THERE)
    make.link(here, there, "WAN")
    return [here, there]


def choices_of(tool: Tool) -> Iterator[dict[str, Any]]:
    """Yield the tool's usual parameters with every combination of its choices."""
    usual = tool.clean({})
    named = [item for item in tool.parameters if item.choices and item.name in (tool.backwards_at[0], "protocol")]
    for values in itertools.product(*([value for value, _label in item.choices] for item in named)):
        yield usual | dict(zip((item.name for item in named), values, strict=True))


def test_what_a_tool_declares_is_where_it_says_that_its_bytes_go() -> None:
    told = 0
    for tool in tools.all_tools():
        if len(tool.roles) < 2:
            continue
        first, second = (role.name for role in tool.roles[:2])
        for params in choices_of(tool):
            sent = tool.estimate(params, 1e9).bytes_sent
            if len(sent) == 1 and sent.keys() <= {(first, second), (second, first)}:
                told += 1
                assert goes_back(tool, params) == (next(iter(sent)) == (second, first)), (tool.slug, params)
    assert told > 12


@pytest.mark.django_db
def test_the_database_reads_the_way_as_the_rules_do() -> None:
    with connection.cursor() as cursor:
        for tool in tools.all_tools():
            for params, metric in itertools.product([{}, *choices_of(tool)], tool.metrics):
                asked = ways.back_in_sql(tool, metric.name, parameters="%s::jsonb")
                cursor.execute(f"SELECT {asked}", [json.dumps(params)])
                assert cursor.fetchone() == (goes_back(tool, params, metric.name),), (tool.slug, metric.name, params)


def rate_of(trial: Trial, metric: str = "goodput") -> float:
    """Return what the path carries on the way of a trial's data, its repetitions apart by 0.2 %."""
    nodes = dict(Node.objects.values_list("pk", "name"))
    ends = [nodes[trial.lane.roles[role][0]] for role in ("client", "server")]
    name, _forth, back = TURNS[trial.experiment.tool]
    is_back = (trial.parameters.get(name) == back) != metric.endswith(BACK)
    return RATES[(ends[1], ends[0]) if is_back else (ends[0], ends[1])] * (1 + 0.002 * trial.repetition)


def experiments_of(tool: str, layout: str, pair: list[Node]) -> list[tuple[list[Node], dict[str, Any]]]:
    name, forth, back = TURNS[tool]
    fixed = {"duration": "2 s"}
    turned = list(reversed(pair))
    both = [(pair, {"fixed": fixed | {name: value}, "factors": []}) for value in (forth, back)]
    return {
        "factor": [(pair, {"fixed": fixed, "factors": [{"name": name, "expression": f"{forth}, {back}"}]})],
        "fixed": both,
        "turned": [both[1], (turned, both[1][1])],
        "at-once": [(pair, {"fixed": fixed | {name: "both"}, "factors": []})],
    }[layout]


def measured(cast: Any, pair: list[Node], tool: str, layout: str) -> Campaign:
    """Return a campaign that measured the path both ways."""
    draft = make.campaign(cast)
    for place, (ends, values) in enumerate(experiments_of(tool, layout, pair)):
        make.experiment(draft, *ends, tool=tool, name=f"{tool} {place}", repetitions=3, **values)
    campaign = make.services.launch_campaign(campaign=draft, user=cast.oscar, now=timezone.now())
    for trial in campaign.trials.select_related("experiment", "lane"):
        metrics = ("goodput", "goodput_reverse") if layout == "at-once" else ("goodput",)
        measure(trial, **{metric: rate_of(trial, metric) for metric in metrics})
        Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=timezone.now())
    Campaign.objects.filter(pk=campaign.pk).update(state="finished", finished_at=timezone.now())
    entries.index_due(now=timezone.now(), limit=100)
    campaign.refresh_from_db()
    return campaign


def _matrix(client: Client, campaign: Campaign) -> Told:
    found = {}
    tool = campaign.experiments.first().tool
    for metric in _metrics_of(campaign):
        for row in client.get(reverse("matrix:json"), {"tool": tool, "metric": metric}).json():
            sender, receiver = row["nodes"].split(" → ")
            assert (row["from"], row["to"]) == (SITES[sender], SITES[receiver])
            found[sender, receiver] = row["value"]
    return found


def _rest_matrix(client: Client, campaign: Campaign) -> Told:
    found = {}
    tool = campaign.experiments.first().tool
    for metric in _metrics_of(campaign):
        body = client.get("/api/v1/matrix/", {"tool": tool, "metric": metric}).json()
        sites = {
            site["id"]: next(node for node, name in SITES.items() if name == site["name"]) for site in body["sites"]
        }
        found |= {(sites[cell["from"]], sites[cell["to"]]): cell["value"] for cell in body["cells"]}
    return found


def _management(client: Client, campaign: Campaign) -> Told:
    found: Told = {}
    chosen = selection.Selection(selection.THIS_MONTH)
    whole = scope.read(campaign.team, chosen, chosen.period_at(timezone.now() + timedelta(minutes=1)))
    node = {site: name for name, site in SITES.items()}
    for item in figures.read(whole).between_sites:
        assert item.best.value == item.latest.value
        found[node[item.places[0]], node[item.places[1]]] = item.latest.value
    return found


def _history(client: Client, campaign: Campaign) -> Told:
    found = {}
    for trial in campaign.trials.order_by("lane_id", "point").distinct("lane_id", "point"):
        for metric in _metrics_of(campaign):
            query = {"point": point_key(trial.parameters), "metric": metric}
            body = client.get(f"/api/v1/histories/{trial.lane_id}/", query).json()
            page = client.get(reverse("history:detail", args=[trial.lane_id]), query).content.decode()
            assert body["nodes"] in page
            sender, receiver = body["nodes"].split(" → ")
            found[sender, receiver] = body["levels"][0]["mean"]
    return found


def _evidence(client: Client, campaign: Campaign) -> Told:
    found = {}
    nodes = dict(Node.objects.values_list("pk", "name"))
    for own in evidence.by_ends(campaign).values():
        values = [value for point in own.points for value in point.values("goodput")]
        sender, receiver = (nodes[pk] for pk in own.way)
        assert max(values) < 1.1 * min(values), "two ways in one evidence"
        found[sender, receiver] = sum(values) / len(values)
    return found


def _metrics_of(campaign: Campaign) -> list[str]:
    return sorted(set(campaign.experiments.values_list("samples__metric", flat=True)))


READERS: list[Callable[[Client, Campaign], Told]] = [_matrix, _rest_matrix, _management, _history, _evidence]


@pytest.mark.django_db
@pytest.mark.parametrize(("tool", "layout"), CASES)
def test_each_reader_tells_each_way_its_own_figure(
    client: Client, cast: SimpleNamespace, pair: list[Node], tool: str, layout: str
) -> None:
    campaign = measured(cast, pair, tool, layout)
    client.force_login(cast.bob)
    ways_told = {way: pytest.approx(rate, rel=0.01) for way, rate in RATES.items()}
    if layout == "turned":
        # Both experiments sent back, each from its own server.
        assert {(trial.lane.roles["client"][0]) for trial in campaign.trials.all()} == {node.pk for node in pair}
    for reader in READERS:
        wanted = ways_told
        if reader is _management:
            # It tells a tool's first metric: of both at once that of the way forth, of netperf the time of an answer.
            primary = queries.metrics_of(tools.get(tool))[0].name
            wanted = {} if primary != "goodput" else ways_told
            wanted = {("kisti01", "pnu01"): wanted["kisti01", "pnu01"]} if layout == "at-once" else wanted
        assert reader(client, campaign) == wanted, reader.__name__


@pytest.mark.django_db
@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_each_way_has_its_own_capacity(cast: SimpleNamespace, pair: list[Node], layout: str) -> None:
    campaign = measured(cast, pair, "iperf3-tcp", layout)
    refresh_findings(campaign=campaign)
    nodes = dict(Node.objects.values_list("pk", "name"))
    slow = [
        item for item in Finding.objects.all() if [nodes[pk] for _role, pk in item.ends[:2]] == ["kisti01", "pnu01"]
    ]
    fast = [item for item in Finding.objects.all() if item.ends and item not in slow]
    assert {item.rule for item in fast} >= {"path-bottleneck"}
    assert not {item.rule for item in slow} & {"path-bottleneck", "path-capacity", "tcp-bdp"}
    back = set(campaign.trials.values_list("pk", flat=True)) - {
        trial for item in fast for trial in item.details["evidence"]
    }
    assert len(back) == 3
    # One finding speaks of both ways, and says so.
    both = [item for item in slow if item.rule == "path-directions"]
    assert [set(item.details["evidence"]) > back for item in both] == [True]
    for item in slow:
        if item in both:
            continue
        assert set(item.details["evidence"]) <= back
        assert "900" not in json.dumps(item.details["why"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("layout", "arrows"), [("factor", {"kisti01 ↔ pnu01"}), ("fixed", {"kisti01 → pnu01", "pnu01 → kisti01"})]
)
def test_a_search_shows_who_sent_to_whom(
    client: Client, cast: SimpleNamespace, pair: list[Node], layout: str, arrows: set[str]
) -> None:
    measured(cast, pair, "iperf3-tcp", layout)
    client.force_login(cast.bob)
    hits = client.get("/api/v1/archive/").json()["results"]
    assert {hit["nodes"] for hit in hits} == arrows, hits[0]


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_a_lane_has_an_arrow_between_its_two_ends_alone(tool: Tool) -> None:
    roles = {role.name: [number] for number, role in enumerate(tool.roles, start=1)}
    names = {number: f"n{number}" for number in range(1, len(roles) + 1)}
    told = ways.lane_ends(roles, tool, names, is_back=False)
    assert told.count("→") == min(len(roles), 2) - 1
    # Who only steers a transfer between two others stands beside them.
    assert [f"({role.name}: n3)" in told for role in tool.roles[2:3]] == [True] * len(tool.roles[2:3])


@pytest.mark.parametrize(
    ("fixed", "factors", "shown"),
    [
        ({}, [], "n1 → n2"),
        ({"direction": "reverse"}, [], "n2 → n1"),
        ({"direction": "both"}, [], "n1 ↔ n2"),
        ({}, [{"name": "direction", "expression": "forward, reverse"}], "n1 ↔ n2"),
    ],
)
def test_the_arrow_of_a_lane_is_the_way_of_the_data(fixed: dict, factors: list, shown: str) -> None:
    tool = next(tool for tool in tools.all_tools() if tool.slug == "iperf3-tcp")
    is_back, arrow = ways.arrow_of(tool, Experiment(tool=tool.slug, fixed=fixed, factors=factors))
    roles = {role.name: [number] for number, role in enumerate(tool.roles, start=1)}
    assert ways.lane_ends(roles, tool, {1: "n1", 2: "n2"}, is_back=is_back, arrow=arrow) == shown


def test_nobody_else_draws_arrows_between_those_who_play_roles() -> None:
    # Between hops of a route, and between two sites: those are no roles.
    others = {"comparison/comparisons/environment.py", "reports/overview/standings.py"}
    root = Path(apps.__path__[0])
    found = {str(path.relative_to(root)) for path in root.rglob("*.py") if '" → ".join(' in path.read_text()}
    assert found == others
