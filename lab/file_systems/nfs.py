"""NFS exports of a lab's nodes by nfs-ganesha, mounted by a client in user space where the kernel has none."""

from collections.abc import Mapping
from pathlib import Path

from lab import programs, services
from lab.file_systems.spec import Nfs
from lab.rooms import Room
from lab.services import Service, need

_PORT = 2049
_MOUNTD_PORT = 20048
_READ_AHEAD_KIB = 8192
_SOURCE = Path(__file__).resolve().parent / "nfsmount"
_LIBRARIES = ("fuse3", "libnfs")
_CONFIG = """
NFS_CORE_PARAM {{
    Protocols = 3, 4;
    NFS_Port = {port};
    MNT_Port = {mountd};
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Bind_addr = {address};
}}
NFSV4 {{ Graceless = true; RecoveryRoot = "{folder}"; }}
LOG {{ Default_Log_Level = EVENT; }}
"""
_EXPORT = """
EXPORT {{
    Export_Id = {number};
    Path = "{path}";
    Pseudo = "/{name}";
    Access_Type = RW;
    Squash = No_Root_Squash;
    SecType = sys;
    MaxRead = 1048576;
    MaxWrite = 1048576;
    PrefRead = 1048576;
    PrefWrite = 1048576;
    FSAL {{ Name = VFS; }}
}}
"""


def start_servers(exports: list[Nfs], rooms: Mapping[str, Room], addresses: Mapping[str, str]) -> list[Service]:
    """Start a server on each node that exports something; LabError names what failed."""
    started = []
    for name in dict.fromkeys(export.server.name for export in exports):
        own = [export for export in exports if export.server.name == name]
        started += _start(own, rooms[name], addresses[name])
    return started


def _start(exports: list[Nfs], room: Room, address: str) -> list[Service]:
    what = f"The export {exports[0].name}"
    ganesha = need("ganesha.nfsd", "nfs-ganesha and nfs-ganesha-vfs", what)
    rpcbind = need("rpcbind", "rpcbind", what)
    folder = room.folder / "nfs"
    folder.mkdir(parents=True, exist_ok=True)
    text = _CONFIG.format(port=_PORT, mountd=_MOUNTD_PORT, address=address, folder=folder)
    for number, export in enumerate(exports, start=1):
        path = exported_path(export, room)
        room.make_folder(path)
        room.do("chmod", "1777", path)
        text += _EXPORT.format(number=number, path=path, name=export.name)
    config = folder / "ganesha.conf"
    config.write_text(text, encoding="utf-8")
    # NFSv3 asks the port mapper where to mount; it is the node's own.
    mapper = services.start(room, "rpcbind", [rpcbind, "-f", "-w"], ready=services.listens(room, 111))
    argv = [ganesha, "-F", "-f", str(config), "-p", str(folder / "ganesha.pid"), "-L", "STDOUT", "-N", "NIV_EVENT"]
    return [mapper, services.start(room, "ganesha", argv, ready=services.listens(room, _PORT))]


def exported_path(export: Nfs, room: Room) -> Path:
    """Return the folder that is exported, as its server sees it."""
    # Never a disk's root: what is measured there and by NFS must not meet in one folder.
    return (export.disk.path if export.disk else room.folder / "export") / export.name


def mount(export: Nfs, rooms: Mapping[str, Room], address: str) -> list[Service]:
    """Mount an export on its clients and return their processes; LabError if it cannot be mounted."""
    program = programs.compiled(_SOURCE, rooms[export.server.name].place.folder, libraries=_LIBRARIES)
    started = []
    for node in export.clients:
        room = rooms[node.name]
        room.make_folder(export.path)
        source = f"nfs://{address}{exported_path(export, rooms[export.server.name])}"
        argv = [str(program), source, str(export.path), str(export.connections), str(export.slots)]
        mounted = services.answers(room, "mountpoint", "-q", str(export.path))
        started.append(services.start(room, export.name, argv, ready=mounted))
        # FUSE reads 128 KiB ahead, which over a long line is one request at a time.
        device = room.do("mountpoint", "--fs-devno", export.path).strip()
        room.do("tee", f"/sys/class/bdi/{device}/read_ahead_kb", feed=str(_READ_AHEAD_KIB))
    return started
