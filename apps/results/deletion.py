"""What goes with runs that are deleted: what their jobs printed, which agents keep without knowing of runs."""

from collections.abc import Collection
from typing import Any

from apps.agents import services as agents


def forget_printed(sender: Any, *, runs: Collection[int], **_: Any) -> None:
    """Delete the jobs of runs that are about to be deleted, with all that they printed."""
    agents.forget_jobs(run_refs=runs)
