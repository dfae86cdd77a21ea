"""Whom and what of this service the names of an archive stand for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from apps.accounts.models import Team, User
from apps.archive.campaigns import form, records
from apps.archive.campaigns.form import ArchiveError, wrong
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.records import Json, as_told
from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.testbeds import inventory
from apps.testbeds.inventory.sections import SECTIONS
from apps.testbeds.models import Cluster, FileSystem, Link, Node


@dataclass(frozen=True)
class Choices:
    """What was chosen: `nodes` {name in the archive: the team's}, and whether it has the permanent ids that it says.

    What is left out is called the same here; a node that is not here is described as the archive has it. Only an
    administrator gives what comes in the ids under which it is cited elsewhere: whoever asks for that checks it.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    keeps_ids: bool = False


def nodes_in(archive: Archive) -> list[str]:
    """Return the names of the nodes of an archive, in their order."""
    return [str(entry["name"]) for entry in entries(archive).get("nodes", [])]


def entries(archive: Archive) -> dict[str, list[Json]]:
    """Return the sections of an archive's inventory."""
    document = records.mapping(archive.json(form.INVENTORY), form.INVENTORY)
    sections = {}
    for section in SECTIONS:
        place = f"{form.INVENTORY}, {section.name}"
        sections[section.name] = [
            records.mapping(item, place) for item in records.sequence(document.get(section.name, []), place)
        ]
        for item in sections[section.name]:
            for name in section.identity:
                records.text(item.get(name), f"{place}, {name}")
    return sections


class Here:
    """The team's inventory once all that the archive touches is in it, by the archive's names."""

    def __init__(self, archive: Archive, team: Team, choices: Choices) -> None:
        self._team = team
        sections = entries(archive)
        self.renamed = self._checked(sections, choices)
        self.differing, self.made = self._describe(sections)
        self._known: dict[type[Model], dict[str, int]] = {
            kind: dict(kind._default_manager.filter(team=team).values_list("name", "pk"))
            for kind in (Node, Cluster, Link, FileSystem)
        }

    def number(self, kind: type[Model], name: object, place: str) -> int:
        """Return the number that a thing of the archive has here."""
        name_here = records.text(name, place)
        if kind is Node:
            name_here = self.renamed.get(name_here, name_here)
        pk = self._known[kind].get(name_here)
        if pk is None:
            text = _("There is no %(kind)s “%(name)s” in the archive's inventory.")
            raise wrong(place, Message(text, {"kind": str(kind._meta.verbose_name), "name": name_here[:80]}))
        return pk

    def _checked(self, sections: dict[str, list[Json]], choices: Choices) -> dict[str, str]:
        """Return {name in the archive: another name here}; ArchiveError if that cannot be."""
        nodes = {str(entry["name"]) for entry in sections["nodes"]}
        renamed = {name: other for name, other in choices.nodes.items() if other and other != name}
        here = set(Node.objects.filter(team=self._team).values_list("name", flat=True))
        for name, other in renamed.items():
            if name not in nodes:
                raise ArchiveError("choice", Message(_("The archive has no node “%(name)s”."), {"name": name}))
            if other not in here:
                text = _("The team has no node “%(name)s”: choose another, or describe it first.")
                raise ArchiveError("choice", Message(text, {"name": other}))
        targets = Counter(renamed.get(name, name) for name in sorted(nodes))
        for target, count in targets.items():
            if count > 1:
                text = _("Two nodes of the archive cannot both be “%(name)s”.")
                raise ArchiveError("choice", Message(text, {"name": target}))
        return renamed

    def _describe(
        self, sections: dict[str, list[Json]]
    ) -> tuple[list[inventory.ItemChange], list[inventory.ItemChange]]:
        """Describe what the team has not; return what it has otherwise, which stays as it is, and what was made."""
        whole = self._renamed_in(sections)
        changes = self._imported(whole, dry_run=True)
        differing = [change for change in changes if change.action == inventory.CHANGED]
        new = {(type(change.item), str(change.item)) for change in changes if change.action == inventory.CREATED}
        missing = {}
        for section in SECTIONS:
            new_entries = [entry for entry in whole[section.name] if (section.model, _called(section, entry)) in new]
            if new_entries:
                missing[section.name] = new_entries
        return differing, self._imported(missing, dry_run=False) if missing else []

    def _imported(self, sections: Mapping[str, list[Json]], *, dry_run: bool) -> list[inventory.ItemChange]:
        document: dict[str, Any] = {name: rows for name, rows in sections.items() if rows}
        if not document:
            return []
        try:
            return inventory.import_inventory(
                team=self._team, text=strict_json.dumps(document, ensure_ascii=False), dry_run=dry_run
            )
        except ValidationError as error:
            raise wrong(form.INVENTORY, as_told(error)) from None

    def _renamed_in(self, sections: dict[str, list[Json]]) -> dict[str, list[Json]]:
        """Return the sections with the nodes' names here, without the nodes that are others here."""
        renamed = dict(sections)
        renamed["nodes"] = [entry for entry in sections["nodes"] if entry["name"] not in self.renamed]
        renamed["links"] = [
            {**entry, **{side: self._end(entry.get(side)) for side in ("a", "b")}} for entry in sections["links"]
        ]
        renamed["clusters"] = [
            {**entry, "nodes": [self._node(name) for name in _listed(entry.get("nodes"))]}
            for entry in sections["clusters"]
        ]
        return renamed

    def _end(self, end: Any) -> Any:
        if isinstance(end, Mapping) and isinstance(end.get("node"), str):
            return {"node": self._node(end["node"])}
        return end

    def _node(self, name: Any) -> Any:
        return self.renamed.get(name, name) if isinstance(name, str) else name


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _called(section: Any, entry: Json) -> str:
    return " – ".join(str(entry[name]) for name in section.identity)


def people_here(archive_people: list[str], team: Team) -> dict[str, User]:
    """Return {user name: member of the team} of the people of an archive who are called the same here."""
    members = {user.get_username(): user for user in team.members.all()}
    return {name: members[name] for name in archive_people if name in members}
