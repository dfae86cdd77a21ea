"""Count what each team has stored: outputs, series, facts, what was sent and not decided on, rendered reports."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, F, Func, QuerySet, Sum, Value
from django.db.models.functions import Coalesce

from apps.accounts import quotas
from apps.accounts.models import Team
from apps.agents.models import FactSnapshot, JobFile, JobOutput
from apps.archive.imports.models import Import, ImportItem
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns.models.annotations import Note
from apps.core import isolation
from apps.reports.models import Rendering
from apps.results.models import Series

COUNT_STORED = "count_stored"


def count_stored(*, now: datetime) -> None:
    """Count the bytes of every team and keep them for its page and its quota."""
    sizes: Counter[int] = Counter()
    for rows, team, columns in _tables():
        size = sum((_size_of(column) for column in columns), Value(0, output_field=BigIntegerField()))
        sizes_of_teams = rows.order_by().values_list(team).annotate(bytes=Sum(size, output_field=BigIntegerField()))
        sizes.update({pk: int(total or 0) for pk, total in sizes_of_teams})
    sizes.update(_sent())
    for pk, total in Rendering.objects.order_by().values_list("report__team").annotate(bytes=Sum("size")):
        sizes[pk] += int(total or 0)

    def keep(teams: list[int]) -> None:
        quotas.set_stored(sizes={team: sizes[team] for team in teams}, now=now)

    isolation.for_all(COUNT_STORED, Team.objects.order_by("pk").values_list("pk", flat=True), keep, now=now)


def _tables() -> list[tuple[QuerySet[Any], str, tuple[str, ...]]]:
    """Return (rows, the way to their team, columns that hold what is stored)."""
    return [
        (JobOutput.objects.all(), "job__node__team", ("stdout_z", "stderr_z", "telemetry_z")),
        (JobFile.objects.all(), "job__node__team", ("content_z",)),
        (Series.objects.all(), "result__experiment__campaign__team", ("times", "values", "packed_z")),
        (FactSnapshot.objects.all(), "node__team", ("facts",)),
        (ImportItem.objects.all(), "source__team", ("stdout_z", "stderr_z")),
        (Note.objects.all(), "campaign__team", ("text",)),
    ]


def _sent() -> Counter[int]:
    """Return the bytes of files below VAR_DIR that wait for a decision."""
    sizes: Counter[int] = Counter()
    for team, path in IncomingArchive.objects.values_list("team", "pk"):
        sizes[team] += _bytes_below(Path(settings.VAR_DIR) / "archives" / f"{path}.zip")
    for team, path in Import.objects.values_list("team", "pk"):
        sizes[team] += _bytes_below(Path(settings.VAR_DIR) / "imports" / str(path))
    return sizes


def _bytes_below(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _size_of(column: str) -> Any:
    size = Func(F(column), function="pg_column_size", output_field=BigIntegerField())
    return Coalesce(size, Value(0), output_field=BigIntegerField())
