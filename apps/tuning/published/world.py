"""The sites, machines and links of a publication, as an inventory file has them."""

import re
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext

from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.tuning.published.places import At, WrongPlace

Json = dict[str, Any]

SECTIONS = ("sites", "testbeds", "nodes", "switches", "links", "clusters", "file_systems", "site_pairs")
EACH, SWITCH = " (each node)", "switch "

_SPAN = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]{1,4})\.\.(?P<last>[0-9]{1,4})")


class World:
    """Collects what the file describes and what its cases need beside it; names are unique within a section."""

    def __init__(self) -> None:
        self._sections: dict[str, dict[str, Json]] = {name: {} for name in SECTIONS}
        self.remarks: list[Message] = []

    def add(self, section: str, name: str, **fields: Any) -> str:
        """Describe a thing, or add to its description what it lacks; return its name."""
        entry = self._sections[section].setdefault(name, {"name": name})
        for key, value in fields.items():
            if value is not None:
                entry.setdefault(key, value)
        return name

    def has(self, section: str, name: str) -> bool:
        """Say whether a thing is described."""
        return name in self._sections[section]

    def nodes_of(self, name: str) -> tuple[str, ...]:
        """Return the nodes of a cluster or a testbed, or a node by itself; () for what is neither."""
        cluster = self._sections["clusters"].get(name)
        if cluster:
            return tuple(cluster["nodes"])
        own = tuple(sorted(node for node, entry in self._sections["nodes"].items() if entry["testbed"] == name))
        return own or ((name,) if self.has("nodes", name) else ())

    def machines(self, testbed: str, site: str, count: int, **fields: Any) -> tuple[str, ...]:
        """Return `count` nodes of a testbed; those that the file does not name are numbered."""
        own = self.nodes_of(testbed) if self.has("testbeds", testbed) else ()
        if len(own) >= count:
            return own[:count]
        if not self.has("testbeds", testbed):
            self.add("sites", site)
            self.add("testbeds", testbed, site=site, **fields)
        stem = re.sub(r"\W+", "-", testbed).strip("-")
        for number in range(len(own) + 1, count + 1):
            self.add("nodes", f"{stem}-{number:02}", testbed=testbed)
        return self.nodes_of(testbed)[:count]

    def pair(self, name: str, capacity_bps: float | None, rtt_s: float | None) -> tuple[str, str]:
        """Return two nodes joined by a link of their own, for a case that names no places."""
        ends = self.machines(name, name, 2)
        link = {"a": {"node": ends[0]}, "b": {"node": ends[1]}, "capacity": _exact(capacity_bps), "rtt": rtt_s}
        self.add("links", f"{ends[0]} – {ends[1]}", **link)
        return ends[0], ends[1]

    def mount(self, file_system: str, nodes: Iterable[str]) -> None:
        """Describe that nodes mount a file system: by the smallest cluster of each, since clusters mount."""
        entry = self._sections["file_systems"][file_system]
        for node in nodes:
            clusters = [item for item in self._sections["clusters"].values() if node in item["nodes"]]
            if clusters:
                smallest = min(clusters, key=lambda item: len(item["nodes"]))["name"]
                entry["mounted_by"] = sorted({*entry.get("mounted_by", ()), smallest})

    def rtt_between(self, a: str, b: str, rtt_s: float) -> None:
        """Note the RTT (s) between two sites; what stands there already stays."""
        if a != b and not {f"{a} – {b}", f"{b} – {a}"} & self._sections["site_pairs"].keys():
            self._sections["site_pairs"][f"{a} – {b}"] = {"a": a, "b": b, "rtt": rtt_s}

    def as_inventory(self, known_links: dict[frozenset[str], str]) -> str:
        """Return the inventory file; `known_links` {ends: name} are called as the team calls them already."""
        document: Json = {name: list(entries.values()) for name, entries in self._sections.items() if entries}
        document["links"] = [
            {**link, "name": known_links.get(ends_of(link), link["name"])} for link in document.get("links", ())
        ]
        # JSON is YAML of a plain kind; numbers are in base units.
        return strict_json.dumps(document, ensure_ascii=False, indent=0)


def ends_of(link: Json) -> frozenset[str]:
    """Return the keys of a link's ends: ``node:KGFS01``."""
    return frozenset(f"{kind}:{name}" for end in ("a", "b") for kind, name in link[end].items())


def read_world(document: At) -> World:
    """Return what the file says of sites, testbeds, links and clusters."""
    world = World()
    for site in _items(document, "sites"):
        world.add("sites", site.get("name").text(), place=_text(site, "place"))
    for testbed in _items(document, "testbeds"):
        _read_testbed(testbed, world)
    for link in _items(document, "links"):
        _read_link(link, world)
    for cluster in _items(document, "clusters"):
        _read_cluster(cluster, world)
    return world


def _read_testbed(testbed: At, world: World) -> None:
    name, site = testbed.get("name").text(), testbed.get("site").text()
    if not world.has("sites", site):
        raise WrongPlace(f"{testbed.place}.site", gettext("there is no site of this name in the file: describe it."))
    ram = testbed.find("ram_gb")
    fields = {key: _text(testbed, key) for key in ("cpu", "os", "interconnect")}
    notes = _text(testbed, "text")
    count = testbed.find("node_count")
    printed = f"{count.whole()} nodes" if count else ""
    world.add(
        "testbeds",
        name,
        site=site,
        ram=int(ram.number() * 2**30) if ram else None,
        notes="; ".join(part for part in (notes, printed) if part) or None,
        **fields,
    )
    names = [item.text() for item in testbed.get("nodes").items()] if testbed.has("nodes") else []
    if not names and not count:
        names = [name]
    for node in names:
        world.add("nodes", node, testbed=name)


def _read_link(link: At, world: World) -> None:
    ends = [_end(link.get(key), world) for key in ("a", "b")]
    capacity, rtt, mtu = link.find("bit_per_s"), link.find("rtt_s"), link.find("mtu")
    fields = {
        "capacity": _exact(capacity.number()) if capacity else None,
        "rtt": rtt.number(maximum=3600.0, above=False) if rtt else None,
        "mtu": mtu.whole(maximum=65535) if mtu else None,
        "notes": _text(link, "text"),
    }
    for a in ends[0]:
        for b in ends[1]:
            names = [name for end in (a, b) for name in end.values()]
            world.add("links", " – ".join(names), a=a, b=b, **fields)
    sites = [name for end in (ends[0][0], ends[1][0]) for kind, name in end.items() if kind == "switch"]
    if rtt and len(sites) == 2:
        world.rtt_between(sites[0], sites[1], rtt.number(maximum=3600.0, above=False))


def _end(end: At, world: World) -> list[Json]:
    """Return what a link's end stands for: a switch, a node, or each node of a testbed."""
    text = end.text()
    if text.startswith(SWITCH):
        name = text.removeprefix(SWITCH)
        return [{"switch": world.add("switches", name, site=world.add("sites", name))}]
    if text.endswith(EACH):
        nodes = world.nodes_of(text.removesuffix(EACH))
        if not nodes:
            raise WrongPlace(
                end.place, gettext("there is no testbed of this name with nodes in the file: describe it.")
            )
        return [{"node": node} for node in nodes]
    if world.nodes_of(text):
        return [{"node": world.nodes_of(text)[0]}]
    if world.has("sites", text) and not world.has("switches", text):
        return [{"node": _only_node(text, world)}]
    return [{"switch": world.add("switches", text, site=world.add("sites", text))}]


def _only_node(site: str, world: World) -> str:
    """Return the one node of a site that the file names as a whole."""
    world.add("testbeds", site, site=site)
    return world.add("nodes", re.sub(r"\W+", "-", site).strip("-"), testbed=site)


def _read_cluster(cluster: At, world: World) -> None:
    name = cluster.get("name").text()
    nodes = [node for item in cluster.get("nodes").items() for node in _expand(item)]
    for node in nodes:
        if not world.has("nodes", node):
            text = gettext("%(node)s is no node of the file: describe its testbed.") % {"node": node}
            raise WrongPlace(f"{cluster.place}.nodes", text)
    world.add("clusters", name, nodes=sorted(set(nodes)), notes=_text(cluster, "text"))
    for key in ("node_count", "printed_node_count"):
        printed = cluster.find(key)
        if printed and printed.whole() != len(set(nodes)):
            text = _("%(cluster)s is printed with %(printed)s nodes; its list names %(counted)s.")
            world.remarks.append(
                Message(text, {"cluster": name, "printed": printed.whole(), "counted": len(set(nodes))})
            )


def _expand(item: At) -> list[str]:
    """Return the names that ``KGFS01..04`` stands for."""
    span = _SPAN.fullmatch(item.text())
    if not span:
        return [item.text()]
    first, last = span["first"], span["last"]
    if int(last) < int(first):
        raise WrongPlace(item.place, gettext("the last number lies before the first."))
    return [f"{span['prefix']}{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]


def _items(document: At, name: str) -> list[At]:
    item = document.find(name)
    return item.items() if item else []


def _text(of: At, name: str) -> str | None:
    item = of.find(name)
    return item.text() if item else None


def _exact(value: float | None) -> float | int | None:
    """Return whole numbers as such: the inventory reads "4e9" as it is written."""
    return int(value) if value is not None and value == int(value) else value
