"""However a run of a tool that writes files ends: what it wrote is removed, or owed to its node and told of."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Agent, OwedRemoval
from apps.bench import tools
from apps.bench.toolkit import Plan, Tool
from apps.bench.tools._storage import places
from apps.campaigns.models import Event, Run
from apps.testbeds.models import Node
from tests.rotation import part_of
from tests.workers.writers import (
    KILLED,
    REFUSED,
    WRITERS,
    begin,
    cancel,
    end,
    fall_silent,
    lose,
    stage_of,
    write,
)
from workers import carry_out


def lost(run: Run, _cast: SimpleNamespace) -> None:
    lose(run)


def cancelled_while_lost(run: Run, cast: SimpleNamespace) -> None:
    cancel(run, cast)
    lose(run)


def lost_in_clean_up(run: Run, _cast: SimpleNamespace) -> None:
    end(run)
    while stage_of(run) != places.CLEAN:
        end(run)
    lose(run)


def refused(run: Run, cast: SimpleNamespace) -> None:
    cancel(run, cast)
    end(run, KILLED)
    end(run, REFUSED)


def broken(run: Run, _cast: SimpleNamespace) -> None:
    end(run, fault="agent-restarted")
    end(run, fault="agent-restarted")


def timed_out(run: Run, _cast: SimpleNamespace) -> None:
    end(run, KILLED, timed_out=True)
    while stage_of(run) != places.CLEAN:
        end(run, KILLED, timed_out=True)
    end(run, KILLED, timed_out=True)


def retired(run: Run, _cast: SimpleNamespace) -> None:
    for agent in Agent.objects.all():
        agents.retire_agent(agent=agent, now=timezone.now())
    for _time in range(3):
        carry_out.advance(run.pk)
        agents.mark_lost_jobs(now=timezone.now())
        fall_silent()


Way = Callable[[Run, SimpleNamespace], None]
WAYS: list[Way] = [lost, cancelled_while_lost, lost_in_clean_up, refused, broken, timed_out, retired]


def test_every_tool_that_writes_to_a_file_system_is_tried() -> None:
    needing = {tool.slug for tool in tools.all_tools() if tool.file_system == "required"}
    assert needing <= {tool.slug for tool in WRITERS}
    assert len(WRITERS) >= 7


@pytest.mark.parametrize(
    ("way", "tool"),
    part_of(itertools.product(WAYS, WRITERS), parts=3),
    ids=lambda case: case.slug if isinstance(case, Tool) else case.__name__,
)
def test_whatever_was_to_be_removed_is_removed_or_owed(
    cast: SimpleNamespace, pair: list[Node], tool: Tool, way: Way
) -> None:
    run = begin(cast, pair, tool)
    write(run)
    way(run, cast)
    run.refresh_from_db()
    assert run.state not in Run.OPEN_STATES
    plan = Plan.from_json(run.plan)
    assert plan.clean_up is not None
    removing = [list(command.argv) for command in plan.stages[plan.clean_up].commands]
    assert [item.commands[-1]["argv"] for item in OwedRemoval.objects.order_by("node_id")] == removing
    logged = " ".join(str(event.message) for event in Event.objects.filter(level="warning"))
    for removal in OwedRemoval.objects.all():
        # A work folder is gone when a job of it ended, and the next one has another.
        assert removal.paths and not any("{" in path for path in removal.paths)
        assert all(path in logged for path in removal.paths)
        assert [command["argv"][0] for command in removal.commands] == ["df", "rm"]
