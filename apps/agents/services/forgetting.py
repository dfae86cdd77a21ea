"""Jobs of runs that are deleted: what they printed goes with them."""

from collections.abc import Collection

from apps.agents.models import Job
from apps.core import immutability


def forget_jobs(*, run_refs: Collection[int]) -> None:
    """Delete the jobs of these runs, with all that they printed and gave back."""
    with immutability.letting_go():
        Job.objects.filter(run_ref__in=run_refs).delete()
