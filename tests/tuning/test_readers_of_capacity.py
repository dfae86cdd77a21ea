"""Two pages never say two capacities of one path: who states one hears what came through in other campaigns."""

import ast
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.bench.rules import ask_whole
from apps.bench.rules.runner import drafts_of
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.core import messages
from apps.reports.campaign import loads
from apps.results import loss
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox
from apps.tuning import evidence
from apps.tuning.prediction import queries as prediction
from tests.campaigns import factories as make
from tests.results.factories import measure

ROOT = Path(__file__).parents[2]
# What tells of a path's capacity outside of the rules and the arithmetic: measurements, or the inventory.
_CAPACITY = {
    "capacity_bps", "read_capacity", "theory_of", "least_capacity_bps", "loss_curve", "CAPACITY",
    "clients_ceiling_bps",
}  # fmt: skip
# By what one hears of other campaigns.
_HEARD = {"passed_along", "most_along", "elsewhere"}
# These say what measurements show of a path.
READERS = {
    "apps.results.loss", "apps.comparison.matrix.table", "apps.tuning.prediction.queries", "apps.tuning.evidence",
}  # fmt: skip
# These say what the links are described to carry, and so in their words; or read a table again that a reader wrote.
DESCRIBED = {
    "apps.archive.imports.checks", "apps.archive.landing.description", "apps.campaigns.estimation",
    "apps.campaigns.recipes.base", "apps.campaigns.recipes.rfc6349", "apps.campaigns.recipes.udp_load",
    "apps.campaigns.recipes.window_sweep", "apps.campaigns.services.recipes",
    "apps.comparison.comparisons.presentation.charts", "apps.reports.campaign.inventory",
    "apps.reports.campaign.single.groups", "apps.reports.claims.loads", "apps.results.api", "apps.results.charts",
    "apps.results.services", "apps.results.theory", "apps.results.views", "apps.tuning.evidence.paths",
    "apps.tuning.evidence.printed", "apps.tuning.published.world",
}  # fmt: skip
RULES = ROOT / "apps" / "bench" / "rules"
FAST = {"goodput": 3e9}


def names_in(tree: ast.AST) -> set[str]:
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return names | {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_page_that_tells_a_capacity_hears_of_other_campaigns_or_says_what_is_described() -> None:
    telling, hearing = set(), set()
    for path in sorted((ROOT / "apps").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module.startswith(("apps.bench.", "apps.testbeds.")) or ".migrations" in module:
            continue
        names = names_in(ast.parse(path.read_text()))
        telling |= {module} if names & _CAPACITY else set()
        hearing |= {module} if names & _HEARD else set()
    assert telling - DESCRIBED <= READERS
    assert telling >= DESCRIBED
    assert hearing >= READERS


def test_no_rule_reads_a_capacity_of_evidence_that_left_other_campaigns_out() -> None:
    calls = [
        (path.name, node.args[0])
        for path in sorted(RULES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "read_capacity"
    ]
    built = [(name, argument) for name, argument in calls if isinstance(argument, ast.Call)]
    assert built
    assert all("elsewhere" in {item.arg for item in argument.keywords} for _name, argument in built)


@pytest.fixture
def path(cast: SimpleNamespace) -> SimpleNamespace:
    (a,), (b,) = make.nodes(cast.team, "a"), make.nodes(cast.team, "b", site="Busan")
    make.link(a, b, "WAN", capacity_bps=10**9)
    return SimpleNamespace(cast=cast, team=cast.team, a=a, b=b)


def stored(
    path: SimpleNamespace,
    tool: str,
    client: Node,
    server: Node | None,
    figures: dict[tuple[tuple[str, object], ...], dict[str, float]],
    campaign: Campaign | None = None,
    on: FileSystem | None = None,
) -> Experiment:
    """Return an experiment of three runs of each setting."""
    campaign = campaign or Campaign.objects.create(
        team=path.team, name=f"other {tool}", state="finished", launched_at=timezone.now()
    )
    varied = sorted({name for setting in figures for name, _value in setting}) if len(figures) > 1 else []
    factors = [{"name": name, "expression": "1, 2"} for name in varied]
    experiment = Experiment.objects.create(campaign=campaign, name=tool, tool=tool, factors=factors, file_system=on)
    players = [client, *([server] if server else [])]
    lane = Lane.objects.create(
        experiment=experiment,
        roles={role: [node.pk] for role, node in zip(("client", "server"), players, strict=False)},
        resources=[f"node:{node.pk}" for node in players],
    )
    for point, (setting, samples) in enumerate(figures.items()):
        for repetition in (1, 2, 3):
            trial = Trial.objects.create(
                campaign=campaign, experiment=experiment, lane=lane, position=3 * point + repetition, point=point,
                repetition=repetition, parameters=dict(setting),
            )  # fmt: skip
            measure(trial, **{name: value * (1 + repetition / 1e4) for name, value in samples.items()})
    return experiment


def streams(path: SimpleNamespace, rate: float, client: Node, server: Node, **more: Campaign) -> Experiment:
    figures = {(("streams", n), ("window", 0)): {"goodput": rate} for n in (1, 4)}
    return stored(path, "iperf3-tcp", client, server, figures, **more)


def loads_of(path: SimpleNamespace) -> Experiment:
    """Return loads of which more than 457 Mbit/s never arrives."""
    figures = {
        (("length", 1448), ("rate", rate)): {
            "goodput": min(rate, 457e6), "offered_load": rate, "loss": max(0.0, 1 - 457e6 / rate), "jitter": 1e-4,
        }
        for rate in (100e6, 400e6, 600e6, 800e6)
    }  # fmt: skip
    return stored(path, "iperf3-udp", path.a, path.b, figures)


def dispersed(path: SimpleNamespace) -> Experiment:
    figures = {"capacity": 457e6, "capacity_low": 450e6, "capacity_high": 460e6, "variation": 0.05}
    return stored(path, "pathrate", path.b, path.a, {(): figures})


def panel(path: SimpleNamespace, client: Client) -> Callable[[], str]:
    experiment = loads_of(path)
    return lambda: client.get(reverse("results:experiment", args=[experiment.pk])).content.decode()


def panel_over_rest(path: SimpleNamespace, client: Client) -> Callable[[], str]:
    experiment = loads_of(path)

    def read() -> str:
        (curve,) = client.get(f"/api/v1/experiments/{experiment.pk}/loss/").json()
        assert (curve["passed"] is not None) == any("came through the same way" in it for it in curve["conclusions"])
        return " ".join(curve["conclusions"])

    return read


def report(path: SimpleNamespace, client: Client) -> Callable[[], str]:
    experiment = loads_of(path)
    sweeps = lambda: loss.sweeps_of(experiment, toolbox.get_tool("iperf3-udp"))  # noqa: E731
    return lambda: " ".join(str(block) for block in loads.blocks_of("1", "loads", sweeps()))


def matrix(path: SimpleNamespace, client: Client) -> Callable[[], str]:
    dispersed(path)
    return lambda: client.get(reverse("matrix:matrix"), {"tool": "pathrate"}).content.decode()


def matrix_over_rest(path: SimpleNamespace, client: Client) -> Callable[[], str]:
    dispersed(path)

    def read() -> str:
        (cell,) = client.get("/api/v1/matrix/", {"tool": "pathrate"}).json()["cells"]
        return "came through the same way" if cell["passed"] else ""

    return read


@pytest.mark.django_db
@pytest.mark.parametrize("reader", [panel, panel_over_rest, report, matrix, matrix_over_rest])
def test_a_page_names_what_more_came_through(
    client: Client, path: SimpleNamespace, reader: Callable[[SimpleNamespace, Client], Callable[[], str]]
) -> None:
    client.force_login(path.cast.bob)
    read = reader(path, client)
    # Less than arrived, and what came the other way, tells nothing.
    streams(path, 200e6, path.a, path.b)
    streams(path, 900e6, path.b, path.a)
    assert "came through the same way" not in read()
    streams(path, 900e6, path.a, path.b)
    assert "came through the same way" in read()


@pytest.mark.django_db
def test_no_prediction_is_held_to_links_that_carried_more_in_another_campaign(path: SimpleNamespace) -> None:
    own = streams(path, 300e6, path.a, path.b)
    tool = toolbox.get_tool("iperf3-tcp")
    metric = next(item for item in tool.metrics if item.name == "goodput")
    question = prediction.PredictionQuestion(
        own, tool, own.lanes.get(), metric, prediction.factors_of(own, tool), {"streams": "2"}
    )
    assert prediction._ceiling_bps(question)
    streams(path, 3e9, path.b, path.a)
    assert prediction._ceiling_bps(question)
    streams(path, 3e9, path.a, path.b)
    assert prediction._ceiling_bps(question) is None


@pytest.mark.django_db
def test_a_network_that_carried_more_in_another_campaign_is_not_what_limits_a_file_system(
    path: SimpleNamespace,
) -> None:
    servers, clients = make.cluster(path.team, "servers", path.b), make.cluster(path.team, "clients", path.a)
    system = FileSystem.objects.create(
        team=path.team, name="data", kind="nfs", server_cluster=servers, mount_path="/data"
    )
    system.mounts.create(cluster=clients)
    campaign = streams(path, 980e6, path.a, path.b).campaign
    io = {(("record_size", 2**20),): {"write": 1.2e8}}
    stored(path, "iozone", path.a, None, io, campaign=campaign, on=system)

    def limits() -> list[str]:
        drafts = drafts_of(ask_whole(evidence.of_campaign(campaign)))
        return [messages.render(draft.title) for draft in drafts if draft.rule == "limiting-layer"]

    assert any("The network is the limit" in title for title in limits())
    streams(path, 3e9, path.a, path.b)
    assert not any("The network is the limit" in title for title in limits())
