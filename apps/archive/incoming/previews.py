"""What is found in an archive, for those who decide on it."""

from typing import Any

from django.db import transaction

from apps.accounts.models import Team
from apps.archive.campaigns import form, records
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices
from apps.archive.campaigns.store.choices import Here, nodes_in
from apps.archive.campaigns.store.whole import people_in


def preview_of(archive: Archive, team: Team) -> dict[str, Any]:
    """Return what `IncomingArchive.preview` holds, of an archive for a team; ArchiveError if it is malformed."""
    about = records.mapping(archive.json(form.CAMPAIGN), form.CAMPAIGN)
    with transaction.atomic():
        here = Here(archive, team, Choices())
        transaction.set_rollback(True)
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
        "people": [
            {"username": username, "name": str(person.get("name") or "")}
            for username, person in zip(people_in(about), people, strict=True)
        ],
    }
