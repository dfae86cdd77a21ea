"""What a lab consists of, read from its YAML file; every mistake in the file is named by its field."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, TypeVar

import yaml

from lab.allowance import Allowance, read_allowance
from lab.fields import Fields, LabFileError
from lab.file_systems.spec import FileSystem, read_file_systems
from lab.slurm.spec import Slurm, read_slurm

T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_SYSCTL = re.compile(r"net\.ipv[46](\.[A-Za-z0-9_-]+)+")
_MANAGEMENT = ("10.97.0.0/16", "172.29.0.0/16", "192.168.0.0/16", "198.18.0.0/15")
# IPv4 wants 576 bytes to work; a TUN device takes no more than 65521 in one packet of Ethernet's.
_MTU_RANGE = (576, 65521)
_ETHERNET_OVERHEAD = 38
# The management network is a /24, and this machine is in it too.
_MOST_NODES = 250


@dataclass(frozen=True)
class Switch:
    """A site's switch, which also routes; its gateway is the first address of its subnet."""

    name: str
    site: str
    subnet: IPv4Network
    mtu: int

    @property
    def gateway(self) -> IPv4Address:
        """Return the switch's own address."""
        return self.subnet[1]


@dataclass(frozen=True)
class Node:
    """A node at a switch, with one data-plane address, and what its agent may do."""

    name: str
    switch: Switch
    address: IPv4Address
    sysctls: dict[str, str]
    allowance: Allowance = field(default_factory=Allowance)


@dataclass(frozen=True)
class Link:
    """An emulated line between two switches. `rtt_s` is what ping shows over it, `delay_s` what is added one way."""

    name: str
    ends: tuple[Switch, Switch]
    subnet: IPv4Network
    capacity_bps: float
    rtt_s: float
    delay_s: float
    mtu: int
    queue_bytes: int
    loss: float
    seed: int
    overhead_bytes: int


@dataclass(frozen=True)
class Lab:
    """A whole lab; `digest` is that of its file, `management` holds the networks to choose a /24 from."""

    name: str
    description: str
    path: Path
    digest: str
    management: tuple[IPv4Network, ...]
    switches: tuple[Switch, ...]
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    clusters: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    file_systems: tuple[FileSystem, ...] = ()
    slurm: Slurm | None = None

    @property
    def data_subnets(self) -> list[IPv4Network]:
        """Return every subnet that data travels in."""
        return [switch.subnet for switch in self.switches] + [link.subnet for link in self.links]


def read_lab(path: Path) -> Lab:
    """Read a lab's YAML file; LabFileError names the field that is wrong, and what it should be."""
    try:
        text = path.read_text(encoding="utf-8")
        content: Any = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise LabFileError(f"{path} cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise LabFileError(f"{path} is no YAML: {error}") from error
    top = Fields(str(path), "", content)
    name = top.text("name", pattern=_NAME)
    sysctls = _sysctls(top, "node_sysctls")
    listed = [_switch(entry) for entry in top.entries("switches", least=1)]
    _refuse_repeated(top, "switches", "name", [switch.name for switch in listed])
    switches = {switch.name: switch for switch in listed}
    allowance = _allowance(top)
    entries = top.entries("nodes", least=1, most=_MOST_NODES)
    nodes = [_node(entry, switches, sysctls, allowance) for entry in entries]
    links = [_link(entry, switches) for entry in top.entries("links")]
    by_name = {node.name: node for node in nodes}
    lab = Lab(
        name=name,
        description=top.text("description", default=""),
        path=path,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        management=tuple(top.networks("management", _MANAGEMENT)),
        switches=tuple(listed),
        nodes=tuple(nodes),
        links=tuple(links),
        clusters=_clusters(top, by_name),
        file_systems=read_file_systems(top.entries("file_systems"), by_name),
        slurm=read_slurm(top.part("slurm"), by_name) if top.has("slurm") else None,
    )
    top.finish()
    _check_whole(top, lab)
    return lab


def _switch(entry: Fields) -> Switch:
    switch = Switch(
        name=entry.text("name", pattern=_NAME),
        site=entry.text("site"),
        subnet=entry.network("subnet", longest_prefix=30),
        mtu=entry.integer("mtu", *_MTU_RANGE, default=1500),
    )
    entry.finish()
    return switch


def _allowance(top: Fields) -> Allowance:
    if not top.has("agents"):
        return Allowance()
    part = top.part("agents")
    allowance = read_allowance(part)
    part.finish()
    return allowance


def _clusters(top: Fields, nodes: dict[str, Node]) -> dict[str, tuple[Node, ...]]:
    clusters: dict[str, tuple[Node, ...]] = {}
    for entry in top.entries("clusters"):
        name = entry.text("name")
        if name in clusters:
            entry.refuse("name", f"{name} is taken by another cluster")
        clusters[name] = entry.choices("nodes", nodes)
        entry.finish()
    return clusters


def _node(entry: Fields, switches: dict[str, Switch], sysctls: dict[str, str], allowance: Allowance) -> Node:
    name = entry.text("name", pattern=_NAME)
    switch = entry.choice("switch", switches)
    own = read_allowance(entry, base=allowance)
    node = Node(name, switch, entry.address("address"), sysctls | _sysctls(entry, "sysctls"), own)
    if node.address not in switch.subnet:
        entry.refuse("address", f"{node.address} is not in {switch.subnet}, the subnet of {switch.name}")
    if node.address in (switch.subnet[0], switch.gateway, switch.subnet[-1]):
        entry.refuse("address", f"{node.address} is the network's, the switch's or the broadcast address")
    entry.finish()
    return node


def _link(entry: Fields, switches: dict[str, Switch]) -> Link:
    name = entry.text("name")
    ends = entry.names("between")
    if len(ends) != 2 or ends[0] == ends[1] or not set(ends) <= set(switches):
        entry.refuse("between", f"name two different switches of {', '.join(switches)}")
    rtt_s = entry.quantity("rtt", "duration")
    link = Link(
        name=name,
        ends=(switches[ends[0]], switches[ends[1]]),
        subnet=entry.network("subnet", longest_prefix=30),
        capacity_bps=entry.quantity("capacity", "rate", least=1e3),
        rtt_s=rtt_s,
        delay_s=entry.quantity("delay", "duration", default=rtt_s / 2),
        mtu=entry.integer("mtu", *_MTU_RANGE, default=1500),
        queue_bytes=int(entry.quantity("queue", "size", least=_MTU_RANGE[1], most=1e9, default=4e6)),
        loss=entry.number("loss", 0, 1, default=0.0),
        seed=entry.integer("seed", 0, 65535, default=1),
        overhead_bytes=entry.integer("overhead", 0, 1000, default=_ETHERNET_OVERHEAD),
    )
    if link.delay_s > 10:
        entry.refuse("delay", "the emulator delays by 10 s at most")
    entry.finish()
    return link


def _sysctls(fields: Fields, name: str) -> dict[str, str]:
    settings = fields.mapping(name)
    for key, value in settings.items():
        if not _SYSCTL.fullmatch(str(key)):
            fields.refuse(f"{name}.{key}", "a namespace has net.ipv4.* and net.ipv6.* of its own, and nothing else")
        if isinstance(value, bool) or not isinstance(value, int | str):
            fields.refuse(f"{name}.{key}", f"{value!r} is no number or text")
    return {str(key): str(value) for key, value in settings.items()}


def _check_whole(top: Fields, lab: Lab) -> None:
    """Check what no entry can know alone: that names, addresses and subnets are told apart."""
    switches = [switch.name for switch in lab.switches]
    _refuse_repeated(top, "nodes", "name", [node.name for node in lab.nodes], others=switches)
    _refuse_repeated(top, "nodes", "address", [node.address for node in lab.nodes])
    _refuse_repeated(top, "links", "name", [link.name for link in lab.links])
    subnets = lab.data_subnets
    for index, subnet in enumerate(subnets):
        if any(subnet.overlaps(other) for other in subnets[:index]):
            place, at = ("switches", index) if index < len(switches) else ("links", index - len(switches))
            top.refuse(f"{place}[{at}].subnet", f"{subnet} overlaps another subnet of this lab")


def _refuse_repeated(top: Fields, entries: str, field: str, values: Sequence[T], *, others: Sequence[T] = ()) -> None:
    for index, value in enumerate(values):
        if value in others or value in values[:index]:
            top.refuse(f"{entries}[{index}].{field}", f"{value} is taken by another switch, node or link")
