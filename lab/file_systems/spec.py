"""The file systems of a lab file: throttled disks, NFS servers and GlusterFS volumes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.fields import Fields

if TYPE_CHECKING:
    from lab.spec import Node

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
FORMATS = ("ext2", "ext3", "ext4", "xfs")
# What mkfs makes of disks this small, given on its command line so that the inventory can state it.
BLOCK_BYTES = 4096
# Every node has an empty one of its own, so that no folder is made on this machine to mount on.
MOUNTS = Path("/mnt")
# mkfs.xfs refuses less than 300 MB; the others want some room for their journal.
_LEAST_DISK, _MOST_DISK = 64 * 2**20, 2**40
_LEAST_XFS = 320 * 2**20


@dataclass(frozen=True)
class Disk:
    """A disk of one node: a file on this machine as a block device, its reads and writes limited (B/s, 0: not)."""

    name: str
    node: "Node"
    path: Path
    size_bytes: int
    format: str
    read_bytes_per_s: int
    write_bytes_per_s: int

    @property
    def is_limited(self) -> bool:
        """Say whether its reads or writes are limited."""
        return bool(self.read_bytes_per_s or self.write_bytes_per_s)

    @property
    def clients(self) -> tuple["Node", ...]:
        """Return the nodes that mount it."""
        return (self.node,)

    @property
    def servers(self) -> tuple["Node", ...]:
        """Return the nodes that serve it."""
        return (self.node,)


@dataclass(frozen=True)
class Nfs:
    """An NFS export of one node, of a disk or a folder of its own, mounted by others over `connections` each."""

    name: str
    server: "Node"
    disk: Disk | None
    path: Path
    clients: tuple["Node", ...]
    connections: int
    slots: int

    @property
    def servers(self) -> tuple["Node", ...]:
        """Return the nodes that serve it."""
        return (self.server,)


@dataclass(frozen=True)
class Gluster:
    """A GlusterFS volume with one brick on each server, on a disk of that server if one is named."""

    name: str
    servers: tuple["Node", ...]
    disks: Mapping[str, Disk]
    path: Path
    clients: tuple["Node", ...]
    layout: str
    options: Mapping[str, str]


FileSystem = Disk | Nfs | Gluster


def read_file_systems(entries: Sequence[Fields], nodes: Mapping[str, "Node"]) -> tuple[FileSystem, ...]:
    """Read the list; what is exported must stand before it. Raises LabFileError."""
    file_systems: list[FileSystem] = []
    for entry in entries:
        name = entry.text("name", pattern=NAME)
        if any(name == other.name for other in file_systems):
            entry.refuse("name", f"{name} is taken by another file system")
        disks = {other.name: other for other in file_systems if isinstance(other, Disk)}
        kind = entry.choice("kind", {"disk": "disk", "nfs": "nfs", "glusterfs": "glusterfs"})
        file_system: FileSystem
        if kind == "disk":
            file_system = _disk(entry, name, nodes)
        elif kind == "nfs":
            file_system = _nfs(entry, name, nodes, disks)
        else:
            file_system = _gluster(entry, name, nodes, disks)
        entry.finish()
        _refuse_taken_path(entry, file_system, file_systems)
        file_systems.append(file_system)
    return tuple(file_systems)


def _disk(entry: Fields, name: str, nodes: Mapping[str, "Node"]) -> Disk:
    disk = Disk(
        name=name,
        node=entry.choice("node", nodes),
        path=_mount_point(entry, name),
        size_bytes=int(entry.quantity("size", "size", least=_LEAST_DISK, most=_MOST_DISK)),
        format=entry.choice("format", {name: name for name in FORMATS}, default="ext4"),
        read_bytes_per_s=int(entry.quantity("read", "throughput", least=1e5, most=1e12, default=0)),
        write_bytes_per_s=int(entry.quantity("write", "throughput", least=1e5, most=1e12, default=0)),
    )
    if disk.format == "xfs" and disk.size_bytes < _LEAST_XFS:
        entry.refuse("size", "xfs needs 320 MiB or more")
    return disk


def _nfs(entry: Fields, name: str, nodes: Mapping[str, "Node"], disks: Mapping[str, Disk]) -> Nfs:
    server = entry.choice("server", nodes)
    disk = entry.choice("disk", disks) if entry.has("disk") else None
    if disk is not None and disk.node != server:
        entry.refuse("disk", f"{disk.name} is a disk of {disk.node.name}, not of {server.name}")
    clients = entry.choices("clients", nodes)
    if server in clients:
        entry.refuse("clients", f"{server.name} serves it: its own files are at the disk's path there")
    return Nfs(
        name=name,
        server=server,
        disk=disk,
        path=_mount_point(entry, name),
        clients=clients,
        connections=entry.integer("connections", 1, 16, default=1),
        slots=entry.integer("slots", 1, 256, default=64),
    )


def _gluster(entry: Fields, name: str, nodes: Mapping[str, "Node"], disks: Mapping[str, Disk]) -> Gluster:
    servers = entry.choices("servers", nodes)
    used: dict[str, Disk] = {}
    for disk in entry.choices("disks", disks) if entry.has("disks") else ():
        if disk.node not in servers or disk.node.name in used:
            entry.refuse("disks", f"name at most one disk of each server; {disk.name} is of {disk.node.name}")
        used[disk.node.name] = disk
    layout = entry.choice("layout", {name: name for name in ("distribute", "replicate")}, default="distribute")
    if layout == "replicate" and len(servers) < 2:
        entry.refuse("layout", "replicate needs two servers or more")
    options = entry.mapping("options")
    for key, value in options.items():
        if not re.fullmatch(r"[a-z]+(\.[a-z-]+)+", str(key)) or not isinstance(value, str | int | bool):
            entry.refuse(f"options.{key}", "write a volume option and its value, such as performance.io-cache: off")
    return Gluster(
        name=name,
        servers=servers,
        disks=used,
        path=_mount_point(entry, name),
        clients=entry.choices("clients", nodes),
        layout=layout,
        # YAML reads on and off as truth values.
        options={
            str(key): ("off", "on")[value] if isinstance(value, bool) else str(value)
            for key, value in options.items()
        },
    )


def _mount_point(entry: Fields, name: str) -> Path:
    path = entry.absolute_path("path", str(MOUNTS / name))
    if MOUNTS not in path.parents:
        entry.refuse("path", f"{path} is not below {MOUNTS}, which nodes have to themselves")
    return path


def _refuse_taken_path(entry: Fields, file_system: FileSystem, others: Sequence[FileSystem]) -> None:
    for other in others:
        shared = {node.name for node in file_system.clients} & {node.name for node in other.clients}
        nested = (
            file_system.path == other.path
            or file_system.path in other.path.parents
            or other.path in file_system.path.parents
        )
        if shared and nested:
            entry.refuse(
                "path", f"{file_system.path} meets {other.path} of {other.name} on {', '.join(sorted(shared))}"
            )
