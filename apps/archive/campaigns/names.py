"""Names in an archive: redaction hides them where they are somebody's own, and where they came with the archive."""

from collections.abc import Iterator

from django.core.exceptions import ValidationError
from django.db import connection

from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import wrong
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json, as_told
from apps.archive.campaigns.store.choices import entries
from apps.archive.landing.redaction.named import NAMED
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, Tombstone
from apps.campaigns.models.foreign_names import ForeignName, NameKind
from apps.campaigns.services import foreign_names
from apps.testbeds.inventory.sections import SECTIONS

_PLACE = f"{form.CAMPAIGN}, names"
_LONGEST, _MOST_WORDS = 300, 8


def keep_names(archive: Archive, about: Json, campaign: Campaign, stone: Tombstone | None) -> None:
    """Keep the names of an archive with the campaign that was stored of it; ArchiveError if they are too many."""
    before = stone.foreign_names.all if stone and stone.foreign_names else []
    names = [*before, *_carried(about), *_of_inventory(archive), *_of_facts(campaign), *_of_people(about)]
    if isinstance(about.get("team"), str) and about["team"] != campaign.team.name:
        names.append(ForeignName(NameKind.TEAM, about["team"][:_LONGEST]))
    try:
        foreign = foreign_names.keep(campaign.team, names)
    except ValidationError as error:
        raise wrong(_PLACE, as_told(error)) from None
    Campaign.objects.filter(pk=campaign.pk).update(foreign_names=foreign)


def _carried(about: Json) -> Iterator[ForeignName]:
    for item in records.sequence(about.get("names", []), _PLACE):
        parts = [records.text(part, _PLACE, _LONGEST) for part in records.sequence(item, _PLACE)]
        if len(parts) != len(ForeignName._fields) or parts[0] not in NameKind.values:
            raise wrong(_PLACE, Message(_("This is not in its form.")))
        yield ForeignName(*parts)


def _of_inventory(archive: Archive) -> Iterator[ForeignName]:
    sections = entries(archive)
    for section in SECTIONS:
        for named in NAMED:
            if named.model is section.model:
                texts = (entry.get(named.field) for entry in sections[section.name])
                yield from (ForeignName(named.kind, text) for text in texts if isinstance(text, str))
    for node in sections["nodes"]:
        listed = node.get("addresses") or []
        for address in listed if isinstance(listed, list) else [listed]:
            text = address.get("address") if isinstance(address, dict) else address
            yield ForeignName(NameKind.ADDRESS, str(text))


def _of_facts(campaign: Campaign) -> Iterator[ForeignName]:
    """Yield what agents said of the nodes, but for what is of the own nodes: read as the database keeps names."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT said.kind, said.name FROM agents_factsnapshot snapshot, "
            "LATERAL results_names_in_facts(snapshot.facts) said WHERE snapshot.archive_ref = %s AND said.name <> ''",
            [campaign.permanent_id],
        )
        yield from (ForeignName(*row) for row in cursor.fetchall())


def _of_people(about: Json) -> Iterator[ForeignName]:
    """Yield people's names: an archive says no more than the whole one, which may part anywhere."""
    for item in records.sequence(about.get("people"), _PLACE):
        yield ForeignName(NameKind.USER, records.text(item.get("username"), _PLACE, _LONGEST))
        words = records.text(item.get("name") or "", _PLACE, _LONGEST).split()[:_MOST_WORDS]
        for place in range(1, max(len(words), 2)):
            yield ForeignName(NameKind.PERSON, " ".join(words[:place]), " ".join(words[place:]))
