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

# Of each list so many are shown, beside how many there are; of a command so much.
MOST_SHOWN = 100
MOST_TOOLS = 20
LONGEST_COMMAND = 2000


def preview_of(archive: Archive, team: Team) -> dict[str, Any]:
    """Return what `IncomingArchive.preview` holds, of an archive for a team; ArchiveError if it is malformed."""
    about = records.mapping(archive.json(form.CAMPAIGN), form.CAMPAIGN)
    with transaction.atomic():
        here = Here(archive, team, Choices())
        transaction.set_rollback(True)
    new_tools, differing_tools = compared(archive, team)
    people = records.sequence(about.get("people"), form.CAMPAIGN)
    names, nodes = people_in(about), nodes_in(archive)
    team_name = about.get("team")
    return {
        "campaign": archive.permanent_id,
        "name": archive.name,
        "team": None if team_name is None else records.text(team_name, f"{form.CAMPAIGN}, team"),
        "counts": archive.counts,
        "totals": {
            "nodes": len(nodes), "new": len(here.made), "differing": len(here.differing),
            "new_tools": len(new_tools), "differing_tools": len(differing_tools), "people": len(people),
        },
        "nodes": nodes[:MOST_SHOWN],
        "new": [[change.kind, _cut(change.item)] for change in here.made[:MOST_SHOWN]],
        "differing": [
            [change.kind, _cut(change.item), [difference.field for difference in change.differences]]
            for change in here.differing[:MOST_SHOWN]
        ],
        "new_tools": [_shown(tool) for tool in new_tools[:MOST_TOOLS]],
        "differing_tools": [_shown(tool) for tool in differing_tools[:MOST_TOOLS]],
        "people": [
            {"username": username, "name": _cut(person.get("name") or "")}
            for username, person in zip(names[:MOST_SHOWN], people, strict=False)
        ],
    }  # fmt: skip


def _cut(text: object, most: int = 300) -> str:
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def _shown(tool: ArchivedTool) -> list[str]:
    """Return what is told of a tool before it comes in: what experiments call it, its name, and what it would run."""
    definition = tool.definition
    servers = [definition.server_program, *definition.server_arguments] if definition.server_program else []
    return [
        tool.version_slug,
        definition.name,
        _cut(" ".join([definition.program, *definition.arguments]), LONGEST_COMMAND),
        _cut(" ".join(servers), LONGEST_COMMAND),
    ]  # fmt: skip
