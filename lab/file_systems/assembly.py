"""Makes the file systems of a lab in their order: disks, then servers, then what is mounted from them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lab.file_systems import disk, gluster, nfs
from lab.file_systems.spec import Disk, FileSystem, Gluster, Nfs
from lab.quantities import format_quantity
from lab.rooms import Room
from lab.services import Service

if TYPE_CHECKING:
    from lab.spec import Lab


def make_all(
    lab: "Lab",
    rooms: Mapping[str, Room],
    services: list[Service],
    *,
    say: Callable[[str], None],
    check: Callable[[], None],
) -> None:
    """Make all file systems of a lab and add their servers to `services`; LabError if the machine refuses one."""
    addresses = {node.name: str(node.address) for node in lab.nodes}
    for item in lab.file_systems:
        if isinstance(item, Disk):
            disk.make(item, rooms[item.node.name])
            say(f"disk {item.name}: {describe(item)} at {item.path} of {item.node.name}")
            check()
    exports = [item for item in lab.file_systems if isinstance(item, Nfs)]
    volumes = [item for item in lab.file_systems if isinstance(item, Gluster)]
    services += nfs.start_servers(exports, rooms, addresses)
    for export in exports:
        services += nfs.mount(export, rooms, addresses[export.server.name])
        say(f"NFS {export.name}: {describe(export)} at {export.path} of {_names(export)}")
        check()
    services += gluster.start_daemons(volumes, rooms)
    for volume in volumes:
        services += gluster.make(volume, rooms)
        say(f"GlusterFS {volume.name}: {describe(volume)} at {volume.path} of {_names(volume)}")
        check()


def describe(item: FileSystem) -> str:
    """Return in words what a file system is made of."""
    if isinstance(item, Disk):
        limits = [
            f"{way} {format_quantity(rate, 'throughput')}"
            for way, rate in (("read", item.read_bytes_per_s), ("write", item.write_bytes_per_s))
            if rate
        ]
        return ", ".join([f"{item.format} of {format_quantity(item.size_bytes, 'size')}", *limits])
    if isinstance(item, Nfs):
        stored = f"the disk {item.disk.name}" if item.disk else "a folder"
        return f"{stored} of {item.server.name}, {item.connections} connections with {item.slots} requests each"
    bricks = [f"{node.name}{' (' + item.disks[node.name].name + ')' if node.name in item.disks else ''}"
              for node in item.servers]  # fmt: skip
    return f"{item.layout} over {', '.join(bricks)}"


def _names(item: FileSystem) -> str:
    return ", ".join(node.name for node in item.clients)
