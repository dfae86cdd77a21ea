"""GlusterFS volumes over a lab's nodes, mounted through FUSE: a parallel file system that spans sites."""

from collections.abc import Mapping
from pathlib import Path

from lab import services
from lab.file_systems.spec import Gluster
from lab.machine import LabError
from lab.rooms import Room
from lab.services import Service, need

_PACKAGE = "glusterfs-server"
# What glusterd and its bricks keep there must be a node's own.
_FOLDERS = {"state": Path("/var/lib/glusterd"), "log": Path("/var/log/glusterfs")}
_BY_SCRIPT = ("gluster", "--mode=script")


def start_daemons(volumes: list[Gluster], rooms: Mapping[str, Room]) -> list[Service]:
    """Start glusterd on every server of these volumes and make them one pool; LabError names what failed."""
    servers = list(dict.fromkeys(node.name for volume in volumes for node in volume.servers))
    if not servers:
        return []
    program = need("glusterd", _PACKAGE, f"The volume {volumes[0].name}")
    started = []
    for name in servers:
        room = rooms[name]
        for kind, folder in _FOLDERS.items():
            if not folder.is_dir():
                raise LabError(f"{folder} is missing: install the package {_PACKAGE}.")
            room.bind(room.folder / "gluster" / kind, folder)
        room.make_folder(Path("/run/gluster"))
        ready = services.answers(room, *_BY_SCRIPT, "peer", "status")
        started.append(services.start(room, "glusterd", [program, "--no-daemon"], ready=ready))
    first = rooms[servers[0]]
    for name in servers[1:]:
        first.do(*_BY_SCRIPT, "peer", "probe", name)
    services.wait_for(
        lambda: all("(Connected)" in _peer(first, name) for name in servers[1:]),
        f"{', '.join(servers)} are no GlusterFS peers",
    )
    return started


def _peer(room: Room, name: str) -> str:
    listed = room.do(*_BY_SCRIPT, "peer", "status")
    return listed.partition(f"Hostname: {name}\n")[2].partition("\n\n")[0]


def make(volume: Gluster, rooms: Mapping[str, Room]) -> list[Service]:
    """Create and start a volume, and mount it on its clients; return the clients' processes."""
    bricks = []
    for node in volume.servers:
        room = rooms[node.name]
        disk = volume.disks.get(node.name)
        # A folder below the disk's own root, so that a disk that is not mounted is no brick.
        brick = (disk.path if disk else room.folder / "bricks") / f"brick-{volume.name}"
        room.make_folder(brick)
        bricks.append(f"{node.name}:{brick}")
    first = rooms[volume.servers[0].name]
    layout = ("replica", len(bricks)) if volume.layout == "replicate" else ()
    first.do(*_BY_SCRIPT, "volume", "create", volume.name, *layout, "transport", "tcp", *bricks, "force")
    for key, value in volume.options.items():
        first.do(*_BY_SCRIPT, "volume", "set", volume.name, key, value)
    first.do(*_BY_SCRIPT, "volume", "start", volume.name)
    program = need("glusterfs", "glusterfs-client", f"The volume {volume.name}")
    return [_mount(volume, rooms[node.name], program) for node in volume.clients]


def _mount(volume: Gluster, room: Room, program: str) -> Service:
    room.make_folder(volume.path)
    servers = [word for node in volume.servers for word in ("--volfile-server", node.name)]
    log = room.place.folder / f"{room.name}-{volume.name}-fuse.log"
    argv = [program, "--no-daemon", *servers, "--volfile-id", volume.name, "--log-file", str(log), str(volume.path)]
    mounted = services.answers(room, "mountpoint", "-q", str(volume.path))
    started = services.start(room, volume.name, argv, ready=mounted)
    room.do("chmod", "1777", volume.path)
    return started
