"""Tell the rows of a table that has grown since it was imported: without times, only what stands before them does."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from apps.archive.imports.models import Import, ImportItem
from apps.archive.imports.queries import trials_before
from apps.bench import strict_json
from apps.bench.text import Message, _

# Of fewer rows that differ it may well be chance that another table begins with the same: full lines are alike.
FEWEST_DIFFERENT = 3
# Earlier tables that begin alike and are looked at, the latest first; one that grew is a copy of the one before it.
_MOST_TABLES = 20


def rows_before(imported: Import, group: str) -> Iterator[tuple[ImportItem, int, dict[str, list[int]]]]:
    """Yield rows of a table's group that an earlier version of it had: (row, its trial, who played which role then).

    An earlier version is a table that the team imported, with the same columns, whose rows are the first of this one,
    cell by cell and in order. Those of its rows that were not taken, whose trial was deleted, or which is not there
    for whoever imports now (`queries.trials_before`), are none.
    """
    items = list(_readable(imported.items.filter(group=group)).defer("stdout_z", "stderr_z"))
    keys = [_key(item) for item in items]
    for source in _beginning_alike(imported, items):
        earlier = _readable(ImportItem.objects.filter(source=source, group=group)).select_related("trial__lane")
        before = list(earlier.defer("stdout_z", "stderr_z"))
        visible_trials = set(
            trials_before(imported).filter(pk__in=[row.trial_id for row in before]).values_list("pk", flat=True)
        )
        keys_before = [_key(item) for item in before]
        if keys_before != keys[: len(before)] or len(set(keys_before)) < FEWEST_DIFFERENT:
            continue
        for item, row in zip(items, before, strict=False):
            if row.trial is not None and row.trial.pk in visible_trials:
                yield item, row.trial.pk, row.trial.lane.roles


def told(imported: Import) -> Message | None:
    """Return what is said of a table that was imported of which rows were there already; None if none were."""
    count = imported.items.filter(is_duplicate=True, trial__isnull=False).count()
    if imported.kind != Import.Kind.TABLE or not count:
        return None
    text = _(
        "Rows of this table that were imported before, between the same nodes, and were not taken again: %(count)s. "
        "They are listed below as there already."
    )
    return Message(text, {"count": count})


def _readable(items: QuerySet[ImportItem]) -> QuerySet[ImportItem]:
    return items.filter(refusal__isnull=True).order_by("position")


def _beginning_alike(imported: Import, items: list[ImportItem]) -> list[int]:
    """Return the imports of tables that have the first of these rows, the latest first."""
    if not items:
        return []
    first = items[0]
    rows = ImportItem.objects.filter(
        source__team=imported.team_id,
        source__kind=Import.Kind.TABLE,
        source__state=Import.State.DONE,
        group=first.group,
        tool=first.tool,
        command=first.command,
        values=first.values,
        refusal__isnull=True,
    )
    sources = rows.exclude(source=imported).order_by("-source").values_list("source", flat=True).distinct()
    return list(sources[:_MOST_TABLES])


def _key(item: ImportItem) -> str:
    """Return all that a row has, as it stands in the table and as it was understood."""
    moment = item.measured_at.isoformat() if item.measured_at else None
    data: list[Any] = [item.command.get("row"), item.told, item.values, item.roles, item.repetition, moment]
    return strict_json.dumps(data, sort_keys=True)
