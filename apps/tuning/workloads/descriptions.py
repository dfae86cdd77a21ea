"""What a form and a request say of a workload alike: what is wrong with it, and what it describes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.bench.rules.workloads import Workload

MOST_NODES, MOST_TASKS = 100_000, 10_000
# More than any file system holds.
MOST_BYTES = 2**70


def problems_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return {field: what is wrong} of sizes of nothing, and of a file system of another team."""
    problems = {
        name: _("Write a size of at least one byte, for example 1 MiB.")
        for name in ("file_size", "record_size", "total", "wanted")
        if data.get(name) is not None and not 1 <= data[name] <= MOST_BYTES
    }
    files, team = data.get("file_system"), data.get("team")
    if files and team and files.team_id != team.pk:
        problems["file_system"] = _("This file system is another team's: choose one of the team's.")
    return problems


def workload_of(data: Mapping[str, Any]) -> Workload:
    """Return what checked values describe."""
    files = data.get("file_system")
    return Workload(
        pattern=data["pattern"],
        file_size=round(data["file_size"]),
        nodes=data["nodes"],
        tasks=data["tasks"],
        record_size=round(data["record_size"]) if data.get("record_size") else None,
        shared=data["shared"],
        total=data.get("total"),
        wanted=data.get("wanted"),
        file_system=files.name if files else "",
    )
