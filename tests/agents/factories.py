"""Agents and jobs for tests."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.accounts.models import Team
from apps.agents import program, services
from apps.agents.models import Agent, Job, Listener
from apps.testbeds.models import Node
from tests import factories, rewriting
from tests.factories import administrator as administrator
from tests.testbeds import factories as inventory


def node(team: Team | None = None, name: str = "") -> Node:
    """Return a node, of a new team unless one is given."""
    return inventory.node(team or factories.team(), name)


def agent(on: Node | None = None, **fields: Any) -> tuple[Agent, str]:
    """Return an enrolled agent and its token."""
    place = on or node()
    issued = services.issue_enrolment_token(node=place, user=factories.administrator(), now=timezone.now())
    made, token = services.enrol_agent(token_text=issued.text, version=program.version(), now=timezone.now())
    if fields:
        Agent.objects.filter(pk=made.pk).update(**fields)
        made.refresh_from_db()
    return made, token


def job(on: Node, *argv: str, state: Job.State = Job.State.QUEUED, **fields: Any) -> Job:
    """Return a job on a node, queued by the service and then put into a state."""
    (one,) = jobs(on, [argv or ("ping", "-c1", "127.0.0.1")], state=state, **fields)
    return one


def jobs(
    on: Node, commands: Iterable[Sequence[str]], state: Job.State = Job.State.QUEUED, **fields: Any
) -> list[Job]:
    """Return a job on a node for each of the commands, queued together by the service and then put into a state."""
    common = {
        "node_id": on.pk,
        "run_ref": fields.pop("run_ref", 7),
        "role": fields.pop("role", "client"),
        "stage": fields.pop("stage", 0),
        "time_limit_s": fields.pop("time_limit_s", 10.0),
        "background": fields.pop("background", False),
        "ready_pattern": fields.pop("ready_pattern", ""),
        "start_at": fields.pop("start_at", None),
        "optional": fields.pop("optional", False),
        "files": fields.pop("files", ()),
        "collect": fields.pop("collect", ()),
        "environment": fields.pop("environment", ()),
    }
    queued = services.queue_jobs(specs=[services.JobSpec(argv=tuple(argv), **common) for argv in commands])
    if state != Job.State.QUEUED:
        fields = {"state": state, "delivered_at": timezone.now(), **fields}
    for one in queued if fields else ():
        rewriting.update(Job.objects.filter(pk=one.pk), **fields)
        one.refresh_from_db()
    return queued


def listening(hours: float = 2.0) -> datetime:
    """Have somebody listen to agents for so long, without a gap and by an even clock; return the moment of now."""
    now = timezone.now()
    since = {"listening_since": now - timedelta(hours=hours), "heard_until": now}
    Listener.objects.update_or_create(pk=1, defaults=since)
    return now
