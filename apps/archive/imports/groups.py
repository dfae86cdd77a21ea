"""Put what was found together into what becomes experiments: outputs of one tool from one folder."""

from collections import defaultdict
from typing import Any

from django.db.models import QuerySet

from apps.archive.imports.models import Import, ImportItem
from apps.bench.toolkit import Tool
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

# With more folders than a page can ask about, the outputs of a tool are one group.
MOST_GROUPS = 40

Json = dict[str, Any]


def key_of(tool: str, file: str) -> str:
    """Return the key of the group that an output of a file belongs to."""
    return f"{tool}|{file.rpartition('/')[0]}"


def usable(imported: Import) -> QuerySet[ImportItem]:
    """Return what can be imported: neither refused nor there already."""
    return imported.items.filter(refusal__isnull=True, is_duplicate=False)


def group(imported: Import) -> list[Json]:
    """Return the groups of what can be imported, in the order of the files, and note them at the items.

    Each is {"key", "tool", "folder", "count", "values" {parameter: its only value}, "varies" [parameters],
    "missing" [parameters that not every output tells], "suggested" {role: [node ids]}, "told_roles" [roles]}: the
    last are those whose node each row of a table names.
    """
    keys = list(dict.fromkeys(usable(imported).values_list("group", flat=True)))
    if len(keys) > MOST_GROUPS:
        for tool in dict.fromkeys(key.partition("|")[0] for key in keys):
            usable(imported).filter(tool=tool).update(group=f"{tool}|")
    by_key: dict[str, list[tuple[Json, Json]]] = defaultdict(list)
    for key, parameters, roles in usable(imported).values_list("group", "told", "roles"):
        by_key[key].append((parameters, roles))
    is_table = imported.kind == Import.Kind.TABLE
    return [_group(key, items, is_table=is_table) for key, items in by_key.items()]


def _group(key: str, items: list[tuple[Json, Json]], *, is_table: bool) -> Json:
    slug, _bar, folder = key.partition("|")
    tool = toolbox.get_tool(slug)
    values: dict[str, list[Any]] = defaultdict(list)
    for parameters, _roles in items:
        for name, value in parameters.items():
            if value not in values[name]:
                values[name].append(value)
    told_by_all = {name for name in values if all(name in parameters for parameters, _roles in items)}
    casts = [roles for _told, roles in items]
    return {
        "key": key,
        "tool": slug,
        "folder": folder,
        "count": len(items),
        "values": {name: values[name][0] for name in sorted(told_by_all) if len(values[name]) == 1},
        "varies": sorted(name for name in values if len(values[name]) > 1),
        "missing": [parameter.name for parameter in tool.parameters if parameter.name not in told_by_all],
        "told_roles": [role.name for role in tool.roles if is_table and all(role.name in cast for cast in casts)],
        "suggested": casts[0] if all(cast == casts[0] for cast in casts) else {},
    }


class NodesByName:
    """The nodes of a team by what outputs and tables call them: name or address."""

    def __init__(self, team_id: int) -> None:
        self._known: dict[str, int] = {}
        self._doubtful: set[str] = set()
        rows = Node.objects.filter(team=team_id).values_list("pk", "name", "addresses__address")
        for pk, name, address in rows:
            for text in (name, address):
                if text:
                    self._note(str(text).lower(), pk)

    def find(self, text: str) -> int | None:
        """Return the node that is called so, None if there is none, or more than one."""
        key = text.strip().lower()
        return None if key in self._doubtful else self._known.get(key)

    def cast(self, tool: Tool, ends: tuple[str, str]) -> dict[str, list[int]]:
        """Return {role: [node]} for the local and the far host that an output names, as far as they are known."""
        members = {}
        for role, end in zip(tool.roles, ends, strict=False):
            node = self.find(end) if end else None
            if node is not None:
                members[role.name] = [node]
        return members

    def _note(self, key: str, pk: int) -> None:
        if self._known.setdefault(key, pk) != pk:
            self._doubtful.add(key)
