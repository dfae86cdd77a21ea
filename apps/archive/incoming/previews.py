"""What is found in an archive, for those who decide on it."""

from typing import Any

from django.db import transaction

from apps.accounts.models import Team
from apps.archive.campaigns import form, records
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices
from apps.archive.campaigns.store.choices import Here, nodes_in
from apps.archive.campaigns.store.defined import ArchivedTool, compared
from apps.archive.campaigns.store.whole import people_in


def preview_of(archive: Archive, team: Team) -> dict[str, Any]:
    """Return what `IncomingArchive.preview` holds, of an archive for a team; ArchiveError if it is malformed."""
    about = records.mapping(archive.json(form.CAMPAIGN), form.CAMPAIGN)
    with transaction.atomic():
        here = Here(archive, team, Choices())
        transaction.set_rollback(True)
    new_tools, differing_tools = compared(archive, team)
    people = records.sequence(about.get("people"), form.CAMPAIGN)
    return {
        "campaign": archive.permanent_id,
        "name": archive.name,
        "team": about.get("team"),
        "counts": archive.counts,
        "nodes": nodes_in(archive),
        "new": [[change.kind, str(change.item)] for change in here.made],
        "differing": [
            [change.kind, str(change.item), [difference.field for difference in change.differences]]
            for change in here.differing
        ],
        "new_tools": [_shown(tool) for tool in new_tools],
        "differing_tools": [_shown(tool) for tool in differing_tools],
        "people": [
            {"username": username, "name": str(person.get("name") or "")}
            for username, person in zip(people_in(about), people, strict=True)
        ],
    }


def _shown(tool: ArchivedTool) -> list[str]:
    """Return what is told of a tool before it comes in: what experiments call it, its name, and what it would run."""
    definition = tool.definition
    servers = [definition.server_program, *definition.server_arguments] if definition.server_program else []
    return [
        tool.version_slug, definition.name, " ".join([definition.program, *definition.arguments]), " ".join(servers),
    ]  # fmt: skip
