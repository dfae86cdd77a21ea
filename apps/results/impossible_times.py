"""Times of agents that cannot be, by the server's own: kept as they were told, and nothing is computed of them.

A job is not begun before it was made, and what was reported of it is no later than the report.
"""

from collections.abc import Collection, Iterable
from datetime import timedelta

from django.utils import timezone

from apps.agents.models import Job
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Reading
from apps.bench.validity import add_flags
from apps.campaigns import services as campaigns
from apps.campaigns.models import Run

FLAG, SET_FLAG = "times-impossible", "server-clock-set"
# So far may a clock be off that was measured over a slow path, or drifted since.
MARGIN = timedelta(seconds=60)
_WORDS = _(
    "The times that %(nodes)s told cannot be: an end before its start, or outside of the job's own life by the "
    "server's clock. Nothing was computed from them."
)
_SET = _(
    "The server's clock was set by %(seconds)s s during this run: its times do not tell how long it took, and "
    "nothing was computed from them."
)


def are_impossible(job: Job, steps: Collection[str] = ()) -> bool:
    """Return whether the times of a job cannot be, or the server's clock was set meanwhile, by these `steps`."""
    if steps:
        return True
    if not job.time_limit_s:
        # An output that was imported: it was measured long before its job was made.
        return False
    start, end = job.started_at, job.ended_at
    if start is not None and end is not None and end < start:
        return True
    times = [time for time in (start, job.ready_at, end) if time is not None]
    return any(not job.created_at - MARGIN <= time <= job.updated_at + MARGIN for time in times)


def steps_during(run: Run) -> list[str]:
    """Return by how many seconds the server's clock was set during a run; "" if it was, and nobody knows by how much.

    An attempt that seems to end before it started tells it, too.
    """
    steps = campaigns.steps_during(run)
    return steps or ([""] if (run.ended_at or timezone.now()) < run.started_at else [])


def judge(reading: Reading, jobs: Iterable[Job], steps: Collection[str] = ()) -> Reading:
    """Return the reading of a run, flagged if a node told times that cannot be.

    Where the server's clock was set during the run, by these `steps`, that is what is flagged, and no node's times.
    """
    if steps:
        words = Message(_SET, {"seconds": ", ".join(filter(None, steps)) or "?"})
        return add_flags(reading, [Flag(SET_FLAG, "warning", words)], {})
    nodes = sorted({job.node.name for job in jobs if are_impossible(job)})
    if not nodes:
        return reading
    return add_flags(reading, [Flag(FLAG, "warning", Message(_WORDS, {"nodes": ", ".join(nodes)}))], {})
