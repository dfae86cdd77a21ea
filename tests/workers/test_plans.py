"""The plan of a run: its nodes as the tool sees them, probes around it, and kernel settings around all of it."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Agent, FactSnapshot, Job
from apps.bench import context, settings, tools
from apps.bench.toolkit import FILE_SERVER, NodeRef, Plan, ToolFailure
from apps.campaigns import services as campaigns
from apps.campaigns.models import Run
from apps.core import messages
from apps.testbeds import queries
from apps.testbeds import services as inventory
from apps.testbeds.models import Link, Node
from tests.agents import factories as agent_factories
from tests.campaigns import factories as make
from tests.testbeds import factories
from workers import carry_out, plans

KEY = "net.ipv4.tcp_congestion_control"


def run_of(cast: SimpleNamespace, pair: list[Node], **values: Any) -> Run:
    make.launched(cast, *pair, **values)
    return make.take()[0]


def allow(cast: SimpleNamespace, node: Node) -> Any:
    return inventory.grant_setting(node=node, user=cast.alice, pattern=KEY)


def stages(plan: Plan) -> list[str]:
    return [stage.name for stage in plan.stages]


def test_nodes_come_with_what_their_agents_said_and_where_they_mount(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tools.get("iperf3-tcp")
    monkeypatch.setattr(type(tool), "file_system", "required")
    seen: dict[str, list[NodeRef]] = {}
    monkeypatch.setattr(type(tool), "plan", lambda self, params, nodes: seen.update(nodes) or Plan(()))
    group = factories.cluster(cast.team, "group", *pair)
    file_system = factories.file_system(cast.team, "gpfs", group, mount_path="/gpfs")
    facts = FactSnapshot.objects.create(node=pair[0], digest="x", facts={"cpu": {"cores": 8}})
    Agent.objects.filter(node=pair[0]).update(facts=facts)
    plans.make_plan(run_of(cast, pair, file_system=file_system))
    client, server = seen["client"][0], seen["server"][0]
    assert (client.name, client.directory, client.facts) == ("kisti01", "/gpfs", {"cpu": {"cores": 8}})
    assert (server.directory, server.facts) == ("/gpfs", {})


def test_a_cluster_s_own_path_goes_before_the_usual_one(cast: SimpleNamespace, pair: list[Node]) -> None:
    group = factories.cluster(cast.team, "group", pair[0])
    file_system = factories.file_system(cast.team, "gpfs", group, mount_path="/gpfs")
    file_system.mounts.update(path="/elsewhere")
    found = queries.directories(file_system, [node.pk for node in pair])
    assert found == {pair[0].pk: "/elsewhere"}


def test_probes_stand_around_a_run_that_wants_them(cast: SimpleNamespace, pair: list[Node]) -> None:
    plan = plans.make_plan(run_of(cast, pair, context=True))
    assert stages(plan) == [context.BEFORE, "serve", "measure", context.AFTER]


def test_a_run_that_wants_none_has_none(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert stages(plans.make_plan(run_of(cast, pair))) == ["serve", "measure"]


def test_settings_stand_around_everything(cast: SimpleNamespace, pair: list[Node]) -> None:
    allow(cast, pair[0])
    fixed = {"duration": "2 s", f"setting.client.{KEY}": "bbr"}
    plan = plans.make_plan(run_of(cast, pair, fixed=fixed, context=True))
    assert stages(plan) == [settings.STAGE, context.BEFORE, "serve", "measure", context.AFTER]
    (command,) = plan.stages[0].commands
    assert (command.role, command.node_index, command.background) == ("client", 0, True)
    assert "bbr" in command.files[0][1]


def test_a_setting_withdrawn_meanwhile_fails_the_run(cast: SimpleNamespace, pair: list[Node]) -> None:
    grant = allow(cast, pair[0])
    run = run_of(cast, pair, fixed={"duration": "2 s", f"setting.client.{KEY}": "bbr"})
    inventory.revoke_grant(grant=grant, user=cast.alice, now=timezone.now())
    with pytest.raises(ToolFailure) as failure:
        plans.make_plan(run)
    assert failure.value.code == "setting-not-allowed"
    assert not failure.value.retryable
    assert "kisti01" in str(failure.value)


UDP = {"tool": "iperf3-udp", "fixed": {"duration": "2 s", "rate": "50M"}, "factors": [], "repetitions": 6}
STREAMS = {"fixed": {"duration": "2 s", "streams": "8"}, "factors": []}


@pytest.mark.parametrize(
    ("values", "lowered"),
    [(UDP, {"udp_limit_bps": 10**6}), (UDP, {"udp_share_limit": 0.01}), (STREAMS, {"streams_limit": 4})],
)
def test_a_limit_lowered_after_the_launch_binds_what_is_left(
    cast: SimpleNamespace, pair: list[Node], values: dict[str, Any], lowered: dict[str, Any]
) -> None:
    run = run_of(cast, pair, **values)
    plans.make_plan(run)
    Link.objects.update(**lowered)
    with pytest.raises(ToolFailure) as failure:
        plans.make_plan(run)
    assert (failure.value.code, failure.value.retryable) == ("limit-exceeded", False)
    assert "WAN" in str(failure.value) and "allows" in str(failure.value)


def test_a_trial_over_a_lowered_limit_sends_nothing_and_the_log_says_why(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = run_of(cast, pair, **UDP)
    Link.objects.update(udp_limit_bps=10**6)
    assert not carry_out.begin(run)
    run.trial.refresh_from_db()
    assert (run.trial.state, run.trial.reason["code"], Job.objects.count()) == ("failed", "limit-exceeded", 0)
    event = run.trial.campaign.events.order_by("-pk").first()
    assert event is not None and "the link WAN, whose owner allows 1 Mbit/s" in messages.render(event.message)


def nfs_of(cast: SimpleNamespace, client: Node, server: Node, *, source: str) -> Any:
    """Return a file system that one node serves and another mounts, as its agent tells."""
    clients, servers = factories.cluster(cast.team, "clients", client), factories.cluster(cast.team, "nfs1", server)
    mounts = [{"source": source, "target": "/nfs", "type": "nfs4", "options": "rw"}]
    facts = FactSnapshot.objects.create(node=client, digest="m", facts={"mounts": mounts})
    Agent.objects.filter(node=client).update(facts=facts)
    return factories.file_system(cast.team, "nfs", clients, mount_path="/nfs", server_cluster=servers)


def iozone_run(cast: SimpleNamespace, client: Node, file_system: Any) -> Run:
    draft = make.campaign(cast)
    campaigns.create_experiment(
        campaign=draft, user=cast.oscar, name="files", tool="iozone", fixed={"file_size": "8M"}, factors=[],
        roles=make.players(client=client), file_system=file_system, context=False,
    )  # fmt: skip
    campaigns.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    return make.take()[0]


@pytest.mark.parametrize("source", ["10.0.0.9:/export/data", "[fe80::1]:/export/data/", "nfs://10.0.0.9/export/data"])
def test_the_server_frees_its_cache_where_its_agent_may(cast: SimpleNamespace, pair: list[Node], source: str) -> None:
    client, server = pair
    run = iozone_run(cast, client, nfs_of(cast, client, server, source=source))
    plan = plans.make_plan(run)
    assert plan.servers == (server.pk,)
    assert Plan.from_json(plan.as_json()) == plan
    own = [command for stage in plan.stages for command in stage.commands if command.role == FILE_SERVER]
    assert own[0].argv[1].startswith("if=/export/data/.fathom-")


@pytest.mark.parametrize("why", ["lost", "local", "nothing told", "two servers", "measures itself"])
def test_nothing_is_asked_of_servers_that_cannot(cast: SimpleNamespace, pair: list[Node], why: str) -> None:
    client, server = pair
    nfs = nfs_of(cast, client, server, source="/dev/sda1" if why == "local" else "10.0.0.9:/export/data")
    if why == "lost":
        agent_factories.listening()
        Agent.objects.filter(node=server).update(last_seen_at=timezone.now() - timedelta(days=1))
    if why == "nothing told":
        Agent.objects.filter(node=client).update(facts=None)
    if why == "two servers":
        (other,) = make.nodes(cast.team, "nfs02")
        nfs.server_cluster.nodes.add(other)
    if why == "measures itself":
        nfs.server_cluster.nodes.set([client])
    plan = plans.make_plan(iozone_run(cast, client, nfs))
    assert plan.servers == ()
    assert FILE_SERVER not in {command.role for stage in plan.stages for command in stage.commands}


def test_what_the_server_is_asked_for_goes_to_its_agent(cast: SimpleNamespace, pair: list[Node]) -> None:
    client, server = pair
    run = iozone_run(cast, client, nfs_of(cast, client, server, source="10.0.0.9:/export/data"))
    plan = plans.make_plan(run)
    run.plan, run.stage = plan.as_json(), stages(plan).index(f"drop-read-{FILE_SERVER}")
    run.save()
    carry_out._queue_stage(run, plan)
    assert list(Job.objects.values_list("node", "role", "optional")) == [(server.pk, FILE_SERVER, True)]
