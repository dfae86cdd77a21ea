"""Searches over a network read each link once, and what nobody could read is not drawn."""

import ast
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.bench.network import PathLink
from apps.testbeds import queries, topology
from apps.testbeds.models import Link, Node
from apps.testbeds.queries import paths
from apps.testbeds.topology import picture
from tests import factories as people
from tests.testbeds import factories

ROOT = Path(__file__).resolve().parents[2]
# Each of these reads all links of a network.
READS = {"find_path", "path_between", "graph", "Graph", "Fabric", "TeamNetwork"}
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
READ_FIGURES = {"a", "b", "capacity_bps"}


def repeated_reads(source: str) -> list[str]:
    """Return the calls, "name:line", that read a whole network in a loop: a loop over teams is none."""
    found = set()
    for loop in ast.walk(ast.parse(source)):
        if isinstance(loop, LOOPS) and not _is_over_teams(loop):
            for call in ast.walk(loop):
                if isinstance(call, ast.Call) and (name := _name_of(call.func)) in READS:
                    found.add(f"{name}:{call.lineno}")
    return sorted(found)


def _is_over_teams(loop: ast.AST) -> bool:
    targets = [part.target for part in getattr(loop, "generators", [loop]) if hasattr(part, "target")]
    return bool(targets) and all(getattr(target, "id", "") in {"team", "team_id"} for target in targets)


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_no_loop_reads_a_whole_network_for_each_of_its_turns() -> None:
    modules = sorted(path for room in ("apps", "workers") for path in (ROOT / room).rglob("*.py"))
    found = {
        str(path.relative_to(ROOT)): calls
        for path in modules
        # What rules read is a path of the evidence, which is no search.
        if "apps/bench/rules" not in path.as_posix() and (calls := repeated_reads(path.read_text()))
    }
    assert len(modules) > 500
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "[find_path(links, a, b) for a, b in pairs]",
        "for a in ends:\n    for b in ends:\n        network.find_path(links, a, b)",
        "{a: testbeds.path_between(a, b) for a, b in pairs}",
        "for node in nodes:\n    graph(node.team_id).path(node, other)",
        "while waiting:\n    Fabric(links, is_switch).ways(waiting.pop())",
    ],
)
def test_such_a_loop_is_found(source: str) -> None:
    assert repeated_reads(source)
    assert not repeated_reads("for team_id in teams:\n    graph(team_id)")


class CountedLink(PathLink):
    """A link that counts how often a search reads its ends and its capacity."""

    reads: Counter[str] = Counter()

    def __getattribute__(self, name: str) -> Any:
        """Count what is read of the link."""
        if name in READ_FIGURES:
            CountedLink.reads["links"] += 1
        return super().__getattribute__(name)


@pytest.fixture
def reads() -> Iterator[Counter[str]]:
    CountedLink.reads.clear()
    yield CountedLink.reads
    CountedLink.reads.clear()


def counted(links: list[tuple[str, str, int]]) -> list[PathLink]:
    return [CountedLink(number, a, b, bps) for number, (a, b, bps) in enumerate(links)]


def mesh(switches: int, links: int, nodes: int) -> list[tuple[str, str, int]]:
    """Return (a, b, bit/s) of nodes behind switches that many parallel links join."""
    pairs = itertools.cycle(itertools.combinations(range(switches), 2))
    between = [
        (f"switch:{a}", f"switch:{b}", 1 + number) for number, (a, b) in zip(range(links), pairs, strict=False)
    ]
    return [*((f"node:{number}", f"switch:{number % switches}", 10**9) for number in range(nodes)), *between]


@pytest.mark.parametrize("links", [500, 4000])
def test_all_pairs_of_nodes_read_each_link_a_few_times(reads: Counter[str], links: int) -> None:
    graph = queries.Graph(tuple(counted(mesh(12, links, 40))), {})
    pairs = list(itertools.combinations(range(40), 2))
    assert all(graph.find(f"node:{a}", f"node:{b}") for a, b in pairs)
    assert 0 < reads["links"] <= 12 * links + 20 * len(pairs)


def dense_team(links: int) -> Any:
    """Return a team of twelve nodes, no two alike, on six switches that so many links join."""
    team = people.team()
    site = factories.site(team)
    testbed = factories.testbed(team, site=site)
    switches = [factories.switch(team, f"s{number}", site=site) for number in range(6)]
    for number in range(12):
        node = factories.node(team, f"n{number:02}", testbed=testbed)
        factories.link(node, switches[number % 6], rtt_s=(number + 1) / 1000)
    pairs = itertools.islice(itertools.cycle(itertools.combinations(switches, 2)), links)
    Link.objects.bulk_create(
        Link(team=team, name=f"l{number}", capacity_bps=10**9, a_switch=a, b_switch=b)
        for number, (a, b) in enumerate(pairs)
    )
    return team


@pytest.mark.django_db
@pytest.mark.parametrize("links", [150, 900])
def test_drawings_read_each_link_a_few_times(
    monkeypatch: pytest.MonkeyPatch, reads: Counter[str], links: int
) -> None:
    team = dense_team(links)
    plain = paths.as_network_link
    monkeypatch.setattr(paths, "as_network_link", lambda link: CountedLink(**vars(plain(link))))
    pairs = 12 * 11 // 2
    assert any(line.is_bottleneck for line in picture.of_team(team).lines)
    assert 0 < reads["links"] <= 30 * (links + 12) + 60 * pairs
    reads.clear()
    assert len(picture.of_nodes(list(Node.objects.filter(team=team))).boxes) == 18
    assert 0 < reads["links"] <= 40 * (links + 12) + 60 * pairs


@pytest.mark.django_db
@pytest.mark.parametrize(("bound", "least"), [("MOST_BOXES", 9), ("MOST_LINES", 8)])
def test_what_nobody_could_read_is_not_drawn_but_said(
    monkeypatch: pytest.MonkeyPatch, client: Client, bound: str, least: int
) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=4)
    nodes = [*here.near, *here.far]
    # Nodes that differ keep their own boxes and lines: eight of them, and two switches.
    for number, link in enumerate(Link.objects.filter(a_node__in=nodes)):
        Link.objects.filter(pk=link.pk).update(rtt_s=(number + 1) / 1000)
    ends = [factories.cluster(cast.team, name, *own) for name, own in (("a", here.near), ("b", here.far))]
    client.force_login(cast.bob)
    team = f"?team={cast.team.slug}"
    pages = [
        f"/inventory/{team}",
        f"/inventory/path/{team}&from=cluster:{ends[0].pk}&to=cluster:{ends[1].pk}",
    ]
    assert all('<svg class="topology' in client.get(page).content.decode() for page in pages)
    monkeypatch.setattr(picture, bound, least)
    for page in pages:
        text = client.get(page).content.decode()
        assert "This network is not drawn" in text
        assert '<svg class="topology' not in text
        assert "topology-key" not in text
    assert topology.standalone_svg(nodes) == ("", topology.left_out())
    monkeypatch.setattr(picture, bound, least + 1)
    assert all('<svg class="topology' in client.get(page).content.decode() for page in pages)


@pytest.mark.django_db
def test_too_many_switches_are_not_even_read(monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any) -> None:
    here = factories.two_sites(people.team(), nodes=1)
    monkeypatch.setattr(picture, "MOST_BOXES", 1)
    with django_assert_num_queries(1):
        assert "not drawn" in topology.topology_svg(team=here.line.team)
    monkeypatch.setattr(picture, "MOST_BOXES", 0)
    with django_assert_num_queries(1):
        assert "not drawn" in topology.topology_svg(site=here.near_site)
