"""Times of agents that cannot be, by the server's own: kept as they were told, and nothing is computed of them.

A job is not begun before it was made, and what was reported of it is no later than the report.
"""

from collections.abc import Iterable
from datetime import timedelta

from apps.agents.models import Job
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Reading
from apps.bench.validity import add_flags

FLAG = "times-impossible"
# So far may a clock be off that was measured over a slow path, or drifted since.
MARGIN = timedelta(seconds=60)
_WORDS = _(
    "The times that %(nodes)s told cannot be: an end before its start, or outside of the job's own life by the "
    "server's clock. Nothing was computed from them."
)


def are_impossible(job: Job) -> bool:
    """Return whether the times of a job cannot be."""
    if not job.time_limit_s:
        # An output that was imported: it was measured long before its job was made.
        return False
    start, end = job.started_at, job.ended_at
    if start is not None and end is not None and end < start:
        return True
    times = [time for time in (start, job.ready_at, end) if time is not None]
    return any(not job.created_at - MARGIN <= time <= job.updated_at + MARGIN for time in times)


def judge(reading: Reading, jobs: Iterable[Job]) -> Reading:
    """Return the reading of a run, flagged if a node told times that cannot be."""
    nodes = sorted({job.node.name for job in jobs if are_impossible(job)})
    if not nodes:
        return reading
    return add_flags(reading, [Flag(FLAG, "warning", Message(_WORDS, {"nodes": ", ".join(nodes)}))], {})
