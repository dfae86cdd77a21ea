"""The stage of a run that removes what the others left behind; what it could not remove is owed to the node."""

from datetime import datetime
from typing import Any

from apps.agents import queries, services
from apps.agents.models import Job, OwedRemoval
from apps.bench.text import Message, _
from apps.bench.toolkit import Command, Plan
from apps.campaigns import queries as campaign_queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Event, Run
from apps.core import isolation

REMOVE = "remove_what_is_left"
# So many paths stand in a line of a log; the page of the node's agent has all.
MOST_PATHS = 10
# A node takes no trial by itself as long as a removal is owed to it (`queries.ready_nodes`).
_WRITTEN_TO = "fs:"

_OWED = _(
    "Trial %(trial)s may have left files on %(node)s: %(paths)s. Its agent removes them before it measures again; "
    "its page tells when that is done, and how to do it by hand."
)
_DONE = _("What trial %(trial)s left on %(node)s is removed.")
_GIVEN_UP = _(
    "What trial %(trial)s left on %(node)s could not be removed: %(paths)s. %(why)s It is tried again each hour; or "
    "remove it by hand."
)
_UNMOUNTED = _("The file system is not mounted there.")


def is_under_way(run: Run) -> bool:
    """Say whether a run has come to its clean-up, which nobody is to stop: it ends by its own time limit."""
    return run.plan is not None and Plan.from_json(run.plan).clean_up == run.stage


def owe_what_is_left(run: Run) -> None:
    """Owe to their nodes what the clean-up of an ended run did not remove, and say so in the campaign's log."""
    if not is_under_way(run):
        return
    left = Job.objects.filter(run_ref=run.pk, stage=run.stage).exclude(exit_code=0)
    for job in left.select_related("node"):
        removal = services.owe_removal(
            node_id=job.node_id,
            run_ref=run.pk,
            commands=_commands(run, job),
            resources=[resource for resource in run.trial.lane.resources if resource.startswith(_WRITTEN_TO)],
        )
        _tell(run, removal, _OWED, Event.Level.WARNING)


def kept_back(now: datetime) -> set[str]:
    """Return what nothing is to begin on, for a removal is under way there or waits for it to be free."""
    due = [removal for removal in queries.removals_due(now) if removal.job or not removal.is_given_up]
    return {resource for removal in due for resource in removal.resources}


def remove_what_is_left(*, now: datetime) -> int:
    """Go on with the removals that are owed to nodes whose agents are back; return how many came to an end."""
    removals = queries.removals_due(now)
    used = {removal.pk: [f"node:{removal.node_id}", *removal.resources] for removal in removals}
    held = campaign_queries.held_among([resource for resources in used.values() for resource in resources])
    due = {removal.pk: removal for removal in removals if removal.job or held.isdisjoint(used[removal.pk])}

    def take_on(pk: int) -> bool:
        removal = due[pk]
        end = services.take_removal_on(removal=removal, now=now)
        run = Run.objects.select_related("trial").filter(pk=removal.run_ref).first() if end else None
        if run is not None and end is services.RemovalEnd.DONE:
            _tell(run, removal, _DONE, Event.Level.INFO)
        elif run is not None:
            removal.refresh_from_db()
            _tell(run, removal, _GIVEN_UP, Event.Level.WARNING)
        return end is not None

    return sum(isolation.for_each(REMOVE, sorted(due), take_on, now=now))


def _commands(run: Run, job: Job) -> list[dict[str, Any]]:
    """Return what a node carries out to remove what a job did not: what that stage waited for there, and the same.

    A node that comes back may not have mounted the file system yet: there is nothing to remove then, by `rm`.
    """
    plan = Plan.from_json(run.plan or {"stages": []})
    stage = plan.stages[run.stage]
    own = next(command for command in stage.commands if list(command.argv) == job.argv and command.role == job.role)
    before = [item for item in plan.stages if item.name == stage.cleans_up_after]
    checks = [command for item in before for command in item.commands if _place(command) == _place(own)]
    return [
        {
            "role": command.role,
            "argv": list(command.argv),
            "time_limit_s": command.time_limit_s,
            "ready_pattern": command.ready_pattern or "",
        }
        for command in (*checks, own)
    ]


def _place(command: Command) -> tuple[str, int]:
    return command.role, command.node_index


def _tell(run: Run, removal: OwedRemoval, text: str, level: Event.Level) -> None:
    paths = removal.paths
    named = ", ".join(paths[:MOST_PATHS]) + (", …" if len(paths) > MOST_PATHS else "")
    values = {"trial": run.trial_id, "node": removal.node.name, "paths": named[:4000], "why": _why(removal)}
    campaigns.write_event(
        campaign_id=run.trial.campaign_id, trial_id=run.trial_id, level=level, message=Message(text, values)
    )


def _why(removal: OwedRemoval) -> str | dict[str, object]:
    return Message(_UNMOUNTED).as_json() if removal.is_unmounted else removal.detail
