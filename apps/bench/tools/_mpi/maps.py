"""Where ranks run: the map that was asked for, the one that the launcher reports, and whether they are the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.outputs.documents import whole_of
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output

Json = dict[str, Any]

# The file that takes the map asked for to the node and back, so that who reads the outputs needs nothing else.
ASKED = "placement.json"
# A map of more ranks than any trial here has is damage.
MOST_RANKS = 100_000

DIFFERS = _("Rank %(rank)s was to run on %(asked)s and ran on %(got)s: this is not the placement asked for.")
UNKNOWN = _("The launcher told the places of %(told)s of %(ranks)s ranks: whether all ran as asked for is not known.")


@dataclass(frozen=True)
class RankPlace:
    """Where a rank ran: host, and the cores (as socket:core) or hardware threads it was bound to.

    `labels` and `cpus` are None where the launcher does not tell them, and empty for a rank that is not bound.
    """

    host: str
    labels: tuple[str, ...] | None = None
    cpus: tuple[int, ...] | None = None


Got = Mapping[int, RankPlace]


def read_asked(output: Output) -> Json | None:
    """Return the map that a job was started with, None if it did not come back (archives) or is damaged."""
    try:
        data = whole_of(output.collected.get(ASKED, b"").decode())
    except ValueError:
        return None
    return data if isinstance(data, dict) and _is_whole(data) else None


def _is_whole(data: Json) -> bool:
    nodes, ranks = data.get("nodes"), data.get("ranks")
    return (
        isinstance(nodes, list)
        and isinstance(ranks, list)
        and 0 < len(ranks) <= MOST_RANKS
        and all(
            isinstance(node, dict)
            and isinstance(node.get("name"), str)
            and isinstance(node.get("hosts"), list)
            and isinstance(node.get("cores"), dict)
            and all(isinstance(cpus, list) for cpus in node["cores"].values())
            for node in nodes
        )
        and all(
            isinstance(rank, dict)
            and type(rank.get("node")) is int
            and 0 <= rank["node"] < len(nodes)
            and isinstance(rank.get("core"), str)
            for rank in ranks
        )
    )


def compare(request: Json | None, got: Got, *, any_hosts: bool = False) -> tuple[Json, Json, tuple[Flag, ...]]:
    """Return the two maps as they are kept with a result, and the flags of their difference.

    With `any_hosts` the scheduler chose the nodes: then only who shares a node with whom is compared.
    """
    if request is None:
        return {}, ({"map": [_as_json(rank, got[rank]) for rank in sorted(got)]} if got else {}), ()
    nodes, ranks = request["nodes"], request["ranks"]
    requested_map = [
        {"rank": rank, "node": nodes[place["node"]]["name"], **({"core": place["core"]} if place["core"] else {})}
        for rank, place in enumerate(ranks)
    ]
    # What is not asked for is not missed: the launcher may do as it likes.
    is_asked = len({place["node"] for place in ranks}) > 1 or any(place["core"] for place in ranks)
    hosts = {} if any_hosts else {index: set(map(str, node["hosts"])) for index, node in enumerate(nodes)}
    actual_map: list[Json] = []
    flags: list[Flag] = []
    located = 0
    for rank, place in enumerate(ranks):
        actual = got.get(rank)
        if actual is None:
            continue
        node = nodes[place["node"]]
        labels = _labels_of(actual, {} if any_hosts else node["cores"])
        actual_map.append(_as_json(rank, actual, labels))
        located += not place["core"] or labels is not None or any_hosts
        if is_asked and not flags and not _agrees(place, actual, labels, hosts, any_hosts=any_hosts):
            where = actual.host + (f" {' '.join(labels)}" if labels else "")
            text = {"rank": rank, "asked": f"{node['name']} {place['core']}".strip(), "got": where}
            flags.append(Flag("placement-differs", "invalid", Message(DIFFERS, text)))
    if is_asked and located < len(ranks):
        flags.append(Flag("placement-unknown", "warning", Message(UNKNOWN, {"told": located, "ranks": len(ranks)})))
    return {"map": requested_map}, {"map": actual_map}, tuple(flags)


def _agrees(
    place: Json, actual: RankPlace, labels: Sequence[str] | None, hosts: dict[int, set[str]], *, any_hosts: bool
) -> bool:
    """Return whether a rank ran where it was to; `hosts` learns the scheduler's nodes as it goes."""
    index, short = place["node"], actual.host.partition(".")[0]
    if any_hosts:
        other_hosts = {host for other, names in hosts.items() if other != index for host in names}
        if hosts.setdefault(index, {actual.host}) != {actual.host} or actual.host in other_hosts:
            return False
        return not place["core"] or actual.cpus is None or bool(actual.cpus)
    if not hosts[index] & {actual.host, short}:
        return False
    return not place["core"] or labels is None or list(labels) == [place["core"]]


def _labels_of(actual: RankPlace, cores: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the cores that a rank was bound to as socket:core, None if they are not known."""
    if actual.labels is not None or actual.cpus is None:
        return actual.labels
    owners = {cpu: label for label, cpus in cores.items() for cpu in cpus if isinstance(cpu, int)}
    if not all(cpu in owners for cpu in actual.cpus):
        return None
    return tuple(dict.fromkeys(owners[cpu] for cpu in actual.cpus))


def _as_json(rank: int, place: RankPlace, labels: Sequence[str] | None = None) -> Json:
    cores = labels if labels is not None else place.labels
    return {
        "rank": rank,
        "host": _printable(place.host),
        **({"cores": list(cores)} if cores is not None else {}),
        **({"cpus": list(place.cpus)} if place.cpus is not None else {}),
    }


def read_list(text: str) -> tuple[int, ...]:
    """Return the numbers of a list of processors such as 0-3,8."""
    numbers: list[int] = []
    for first, last in re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", text[:4096]):
        numbers += range(int(first), min(int(last or first), int(first) + 4096) + 1)
    return tuple(numbers)


def read_mask(text: str) -> tuple[int, ...]:
    """Return the processors of a hexadecimal mask such as 0x5."""
    number = int(text, 16)
    return tuple(bit for bit in range(number.bit_length()) if number >> bit & 1)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
