"""The file systems that lanes write to, as rules read them."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from apps.bench.rules.base import FileSystemFacts
from apps.results.evidence.lanes import LOCAL, MeasuredLane, serving
from apps.testbeds import queries as testbeds
from apps.testbeds.models import FileSystem
from apps.tuning.evidence import printed
from apps.tuning.evidence.disks import read_disks

Facts = Mapping[int, Mapping[str, Any]]

# What may stand in a line that people paste.
PLAIN = re.compile(r"[A-Za-z0-9_./:@\[\]-]{1,200}")


def file_systems_of(lanes: Iterable[MeasuredLane], facts: Facts) -> dict[str, FileSystemFacts]:
    """Return the file systems that lanes write to, or that are printed beside them, by name.

    With them come the local ones of the same servers, measured or not: what lies beneath is no other than known.
    `facts` {node: what its agent told} have the options.
    """
    lanes = list(lanes)
    by_file_system: dict[int, list[MeasuredLane]] = {}
    systems: dict[int, FileSystem] = {}
    for item in lanes:
        if item.file_system:
            systems[item.file_system.pk] = item.file_system
            by_file_system.setdefault(item.file_system.pk, []).append(item)
    condition = printed.file_systems_in(lanes)
    for file_system in FileSystem.objects.filter(condition).exclude(pk__in=systems) if condition else ():
        systems[file_system.pk] = file_system
    servers = serving(systems.values())
    # A publication tells of the disks behind its figures itself, whatever else its inventory has.
    is_measured = not any(item.lane.experiment.campaign.is_published for item in lanes)
    beside = _beside(systems, {node for own in servers.values() for node in own} if is_measured else ())
    systems |= beside
    servers |= serving(beside.values())
    return {
        file_system.name: _facts_of(
            file_system,
            tuple(servers.get(pk, {}).values()),
            _options_of(file_system, by_file_system.get(pk, []), facts),
        )
        for pk, file_system in systems.items()
    }


def _beside(systems: Mapping[int, FileSystem], nodes: Collection[int]) -> dict[int, FileSystem]:
    """Return the local file systems of nodes that are not among those known, by name neither."""
    if not nodes:
        return {}
    rows = FileSystem.objects.filter(kind__in=LOCAL, server_cluster__nodes__in=nodes).exclude(pk__in=systems)
    rows = rows.exclude(name__in=[file_system.name for file_system in systems.values()])
    return {row.pk: row for row in rows.select_related("server_cluster").order_by("name").distinct()}


def _facts_of(file_system: FileSystem, servers: tuple[str, ...], options: dict[str, Any]) -> FileSystemFacts:
    disks = read_disks(file_system.disks)
    return FileSystemFacts(
        name=file_system.name,
        kind=file_system.kind,
        block_size_bytes=file_system.block_size_bytes,
        servers=servers,
        options=options,
        disks=disks.number,
        disk_rates=disks.rates,
    )


def _options_of(file_system: FileSystem, lanes: list[MeasuredLane], facts: Facts) -> dict[str, Any]:
    """Return the mount options that the clients tell: {name: text, number or True}, and where it is (``mount``).

    Of numbers the largest counts, so that no limit is said of clients of which one is beyond it. Texts and switches
    count where all tell the same.
    """
    clients = list(dict.fromkeys(node for item in lanes for node in item.names))
    where = testbeds.directories(file_system, clients) if clients else {}
    by_name: dict[str, list[Any]] = {}
    for node in clients:
        mounts = facts[node].get("mounts", ()) if node in facts else ()
        texts = [str(mount.get("options", "")) for mount in mounts if mount.get("target") == where.get(node)]
        for name, value in read_options(*texts[:1]).items():
            by_name.setdefault(name, []).append(value)
    numbers = {name: max(values) for name, values in by_name.items() if {*map(type, values)} == {int}}
    options = numbers | {name: values[0] for name, values in by_name.items() if len({*map(str, values)}) == 1}
    places = {where.get(node, "") for node in clients}
    if len(places) == 1 and PLAIN.fullmatch(place := places.pop()):
        options["mount"] = place
    return options


def read_options(text: str = "") -> dict[str, Any]:
    """Return mount options by name: ``rw,vers=4.2,rsize=1048576`` has a switch, a text and a number."""
    pairs = (word.partition("=") for word in text.split(",") if word)
    return {name: _value(value) if has else True for name, has, value in pairs}


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else text
