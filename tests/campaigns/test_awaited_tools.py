"""Trials of a tool that came with an archive, and that was run before such tools waited, wait for its take-over."""

from types import SimpleNamespace

import pytest
from django.utils import timezone, translation

from apps.campaigns import queries, services, waits
from apps.campaigns.models import Campaign, Run
from apps.core import messages
from apps.testbeds.models import Node
from apps.toolbox import services as toolbox
from apps.toolbox.models import ToolVersion
from tests.bench.custom import definitions
from tests.campaigns import factories as make
from tests.workers import factories as workers
from workers import carry_out

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(cast: SimpleNamespace) -> Node:
    (node,) = make.nodes(cast.team, "north")
    workers.enrol(node)
    return node


@pytest.fixture
def running(cast: SimpleNamespace, node: Node) -> Campaign:
    """Return a campaign under way of a version of a tool that waits for a manager, as an upgrade found it to."""
    tool = toolbox.create_tool(
        team=cast.team, user=cast.alice, slug="probe", definition=definitions.data("site-digest")
    )
    draft = make.campaign(cast, name="Digests")
    for name in ("x", "y"):
        services.create_experiment(
            campaign=draft, user=cast.oscar, name=name, tool="probe.v1", roles=make.players(node=node), repetitions=1
        )
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    ToolVersion.objects.filter(tool=tool).update(awaits_manager=True)
    return Campaign.objects.get(pk=draft.pk)


def test_trials_wait_and_say_for_what_until_it_is_taken_over(cast: SimpleNamespace, running: Campaign) -> None:
    carry_out.schedule()
    assert not Run.objects.exists()
    now = timezone.now()
    wait = waits.waits_of([running], cast.bob, now)[running.pk]
    [reason] = wait.reasons
    tool = ToolVersion.objects.get().tool
    assert (reason.code, reason.trials, wait.is_stuck) == ("tool", 2, True)
    assert [(subject.kind, subject.pk) for subject in reason.subjects] == [("tool", tool.pk)]
    assert reason.text.startswith("waiting for a manager of the team to take over the tool probe.v1, which came")
    with translation.override("ko"):
        assert "waiting" not in reason.text
    trials = list(running.trials.all())
    assert {why.code for why in waits.waits_of_trials(trials, cast.bob, now).values()} == {"tool"}
    assert services.note_awaited_tools(now=now) == [running.pk]
    assert services.note_awaited_tools(now=now) == []
    line = running.events.order_by("-pk")[0]
    assert (line.level, messages.render(line.message)[:28]) == ("warning", "Trials of probe.v1 wait: it ")
    assert waits.waits_of([running], cast.bob, now)[running.pk].reasons[0].since == line.at
    toolbox.take_over(tool=tool, user=cast.alice, number=1)
    carry_out.schedule()
    assert Run.objects.count() == 1
    assert {trial.state for trial in running.trials.all()} == {"running", "pending"}


def test_other_campaigns_on_the_same_nodes_do_not_wait_with_it(
    cast: SimpleNamespace, running: Campaign, node: Node
) -> None:
    toolbox.create_tool(team=cast.team, user=cast.alice, slug="probe-two", definition=definitions.data("site-digest"))
    draft = make.campaign(cast, name="Others")
    other = services.create_experiment(
        campaign=draft,
        user=cast.oscar,
        name="z",
        tool="probe-two.v1",
        roles=make.players(node=node),
        repetitions=1,
    )
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    [lane] = queries.startable_lanes(now=make.NOW, ready_nodes={node.pk})
    assert lane.experiment == other.pk
