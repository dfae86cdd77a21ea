"""Removals that are owed to nodes: tried when their agents are back, told until the files are gone."""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.agents.compression import head
from apps.agents.heads import PackedHead
from apps.agents.models import Job, JobOutput, OwedRemoval
from apps.agents.models.removals import LONGEST_DETAIL, LONGEST_WAIT, MOST_TRIES
from apps.agents.services import jobs
from apps.core import immutability

# After the first try that failed; after the next ones so much longer each.
_WAIT = timedelta(seconds=15)
_MOST_COUNTED = 9999


class RemovalEnd(enum.Enum):
    """What became of a removal."""

    DONE = "done"
    GIVEN_UP = "given up"


def owe_removal(
    *, node_id: int, run_ref: int, commands: Sequence[dict[str, Any]], resources: Sequence[str]
) -> OwedRemoval:
    """Owe a node the commands that remove what a run left there (as in `OwedRemoval`)."""
    values = {"node_id": node_id, "run_ref": run_ref, "commands": list(commands), "resources": list(resources)}
    return OwedRemoval.objects.create(**values)


@transaction.atomic
def take_removal_on(*, removal: OwedRemoval, now: datetime) -> RemovalEnd | None:
    """Queue the next command of a removal, or take in how the one at hand ended; return how all of it did, if so."""
    locked = OwedRemoval.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=removal.pk).first()
    if locked is None:
        return None
    if locked.job is None:
        _queue(locked)
        return None
    job = Job.objects.filter(pk=locked.job).first()
    if job is not None and job.state in Job.OPEN_STATES:
        return None
    passed, detail = (_has_passed(job), _what_it_said(job)) if job else (False, "")
    if job is not None:
        with immutability.letting_go():
            job.delete()
    locked.job = None
    if passed and locked.step == len(locked.commands) - 1:
        locked.delete()
        return RemovalEnd.DONE
    if passed:
        locked.step += 1
        _queue(locked)
        return None
    locked.is_unmounted = job is not None and job.exit_code == 0 and not passed
    locked.tries, locked.step, locked.detail = min(locked.tries + 1, _MOST_COUNTED), 0, detail
    locked.not_before = now + (LONGEST_WAIT if locked.is_given_up else _WAIT * locked.tries)
    locked.save()
    return RemovalEnd.GIVEN_UP if locked.tries == MOST_TRIES else None


@transaction.atomic
def forget_removals(*, node_id: int) -> int:
    """Take it on somebody's word that the files on a node are gone; return how many removals there were.

    One that is under way ends by itself.
    """
    return OwedRemoval.objects.filter(node_id=node_id, job=None).delete()[0]


def _queue(removal: OwedRemoval) -> None:
    command = removal.commands[removal.step]
    spec = jobs.JobSpec(
        node_id=removal.node_id,
        run_ref=None,
        role=command["role"],
        stage=0,
        argv=command["argv"],
        time_limit_s=command["time_limit_s"],
        background=bool(command["ready_pattern"]),
        ready_pattern=command["ready_pattern"],
    )
    (job,) = jobs.queue_jobs(specs=[spec])
    removal.job = job.pk
    removal.save()


def _has_passed(job: Job) -> bool:
    return job.exit_code == 0 and (job.ready_at is not None or not job.ready_pattern)


def _what_it_said(job: Job) -> str:
    packed = JobOutput.objects.filter(job=job).values_list(PackedHead("stderr_z", LONGEST_DETAIL), flat=True).first()
    printed = head(packed or b"", LONGEST_DETAIL)
    words = f"{job.fault} {job.fault_detail}".strip() or printed.decode("utf-8", "replace").strip()
    return words.replace("\0", "")[:LONGEST_DETAIL]
