"""What the bodies of agents' requests say, read and taken in beside the loop that answers."""

from contextlib import nullcontext
from uuid import UUID

from django.utils import timezone

from apps.agents import services
from apps.agents.endpoint import protocol
from apps.agents.endpoint.exchange import read_json
from apps.agents.endpoint.refusals import Refusals
from apps.agents.endpoint.room import Problem
from apps.agents.queries import Credentials
from apps.agents.troubles import Trouble

# Codes of the refusals of a process: another is at work, or it has to introduce itself first.
OTHER, UNKNOWN = "other-instance", "unknown-instance"
# A report is unpacked to know whether it can be, and an agent sends none that cannot: so many of a team are tried.
_unsound = Refusals(most=6, window_s=60.0)
# What unpacks to a few MiB at most is no work.
_SMALL_BYTES = 4096


def unknown_job() -> Problem:
    """Return the refusal of a report on a job that is not there."""
    return Problem(404, "unknown-job", "There is no such job on this node.")


def read_poll(body: bytes) -> tuple[protocol.PollQuestion, tuple[Trouble, ...] | None]:
    """Return what a poll asks, and what it says is wrong on the node (None if it does not)."""
    data = read_json(body)
    return protocol.question_of(data), protocol.troubles_of(data)


def take_facts(agent_id: int, body: bytes) -> bool:
    """Return whether the facts of a body are other than those that were known."""
    facts, version = protocol.facts_of(read_json(body))
    return services.record_facts(agent_id=agent_id, facts=facts, version=version)


def take_report(agent: Credentials, key: UUID | None, job: UUID, body: bytes) -> tuple[dict[str, str], bool]:
    """Return a receipt of exactly this report, and whether something is wrong on the node that was not known."""
    data = read_json(body)
    told = protocol.state_of(data)
    most_bytes = services.most_kept(agent.node_id, job, told, key, has_output=protocol.has_output(data))
    is_large = most_bytes is not None and len(body) > _SMALL_BYTES
    with _unsound.counted(agent.team_id) if is_large else nullcontext():
        report = protocol.report_of(data, most_bytes)
    troubles = protocol.troubles_of(data)
    is_news = (
        troubles is not None and key == agent.instance and frozenset(one.code for one in troubles) != agent.troubles
    )
    if is_news and troubles is not None:
        # First, so that no other trial is handed to the node because this job's end is known.
        services.record_troubles(agent_id=agent.agent_id, agent_troubles=troubles, now=timezone.now())
    try:
        state = services.record_report(node_id=agent.node_id, job_id=job, report=report, instance=key)
    except services.UnknownJob:
        raise unknown_job() from None
    except services.OtherInstance:
        if not services.note_refused_report(node_id=agent.node_id, key=key, job_id=job, now=timezone.now()):
            # The database may have been put back to before it was let in: then it follows whoever took the job.
            text = "This process is unknown here: introduce yourself, and report again."
            raise Problem(409, UNKNOWN, text) from None
        text = "Another process of this agent took the job: this report does not count, and is to be kept aside."
        raise Problem(409, OTHER, text) from None
    return {"job": str(job), "event": str(data["event"]), "state": state.value}, is_news
