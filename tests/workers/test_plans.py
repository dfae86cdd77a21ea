"""The plan of a run: its nodes as the tool sees them, probes around it, and kernel settings around all of it."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Agent, FactSnapshot, Job
from apps.bench import context, settings, tools
from apps.bench.toolkit import NodeRef, Plan, ToolFailure
from apps.campaigns.models import Run
from apps.core import messages
from apps.testbeds import queries
from apps.testbeds import services as inventory
from apps.testbeds.models import Link, Node
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
