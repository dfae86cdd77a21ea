"""Reads of imports: whose they are, what was found, mappings that fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import User
from apps.archive.imports import sheets
from apps.archive.imports.models import ColumnMapping, Import, ImportItem
from apps.bench import units
from apps.bench.toolkit import Parameter, Tool
from apps.bench.tools import UnknownTool
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.queries.visibility import for_whole_team, told_to, visible
from apps.core.messages import render
from apps.toolbox import queries as toolbox

Json = dict[str, Any]

# What of the items is shown: all, or one kind of them.
KINDS: dict[str, Q] = {
    "good": Q(refusal__isnull=True, problem__isnull=True, is_duplicate=False),
    "refused": Q(refusal__isnull=False) | Q(problem__isnull=False),
    "duplicates": Q(is_duplicate=True),
}


@dataclass(frozen=True)
class PreviewLine:
    """An item as the preview shows it; `told` and `figures` are texts with units."""

    item: ImportItem
    tool: str
    told: str
    figures: str

    @property
    def why(self) -> Json | None:
        """Return why it is not imported, as a stored message."""
        return self.item.refusal or self.item.problem


def imports_for(user: User) -> QuerySet[Import]:
    """Return the imports of the user's teams into campaigns that the user may (or might) see, the latest first."""
    rows = Import.objects.select_related("team", "created_by", "campaign").order_by("-created_at", "-pk")
    return rights.visible(rows, user).filter(told_to(user))


def mappings_for(user: User) -> QuerySet[ColumnMapping]:
    """Return the mappings that the user's teams keep."""
    return rights.visible(ColumnMapping.objects.select_related("team", "created_by"), user)


def counts_of(imported: Import) -> dict[str, int]:
    """Return how many items there are: {"all", "good", "refused", "duplicates"}."""
    counts = imported.items.aggregate(
        all=Count("pk"), **{name: Count("pk", filter=kind) for name, kind in KINDS.items()}
    )
    return {name: int(count) for name, count in counts.items()}


def items_of(imported: Import, kind: str = "") -> QuerySet[ImportItem]:
    """Return the items of a kind (all, unless it is one of KINDS), without what they printed."""
    items = imported.items.defer("stdout_z", "stderr_z", "reading").order_by("position")
    return items.filter(KINDS[kind]) if kind in KINDS else items


def lines_of(items: Sequence[ImportItem]) -> list[PreviewLine]:
    """Return items as they are shown."""
    return [_line(item) for item in items]


def visible_trials(items: Sequence[ImportItem], user: User) -> set[int]:
    """Return those of the trials that the user may see."""
    trial_ids = [item.trial_id for item in items if item.trial_id]
    return (
        set(campaigns.trials_for(user).filter(pk__in=trial_ids).values_list("pk", flat=True)) if trial_ids else set()
    )


def trials_before(imported: Import) -> QuerySet[Trial]:
    """Return the trials by which whatever an import brings may be there already: those that its sender sees.

    What somebody else keeps to themselves is not there for the sender, who may import the same. Of an import whose
    sender's account is gone they are what the whole team sees.
    """
    if imported.created_by is not None:
        return visible(Trial.objects.all(), imported.created_by, path="campaign")
    return Trial.objects.filter(campaign__in=Campaign.objects.filter(for_whole_team()))


def fitting(imported: Import) -> list[ColumnMapping]:
    """Return the team's mappings whose columns are all in the table, whatever its sheets are called."""
    headers = {header for sheet in sheets.sheets_of(imported) for header in sheet["headers"]}
    mappings = ColumnMapping.objects.filter(team=imported.team_id)
    return [mapping for mapping in mappings if headers >= set(mapping.columns)]


def _line(item: ImportItem) -> PreviewLine:
    try:
        tool = toolbox.get_tool(item.tool)
    except UnknownTool:
        return PreviewLine(item, item.tool, "", "")
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    texts = [
        f"{render(parameters[name].label)} {_told(parameters[name], value)}"
        for name, value in item.told.items()
        if name in parameters and value not in (None, "")
    ]
    return PreviewLine(
        item, tool.name, ", ".join(texts[:6]) + (", …" if len(texts) > 6 else ""), _figures(tool, item.values)
    )


def _figures(tool: Tool, values: Mapping[str, float]) -> str:
    metrics = sorted((metric for metric in tool.metrics if metric.name in values), key=lambda item: not item.primary)
    return ", ".join(
        f"{render(item.label)} {units.format_quantity(values[item.name], item.unit)}" for item in metrics[:2]
    )


def _told(parameter: Parameter, value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if parameter.zero and not value:
        return render(parameter.zero)
    return units.format_quantity(value, parameter.unit) if isinstance(value, int | float) else str(value)
