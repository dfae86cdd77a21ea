"""A node's own mounts and host name, beside its network: namespaces held by files, so that they outlive processes."""

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.machine import LabError, do
from lab.state import Place

_NETNS = Path("/run/netns")
_CGROUPS = Path("/sys/fs/cgroup")
_ENTER = Path(__file__).resolve().parent / "enter.py"
# What a node has to itself, and so hides from it what this machine has there.
_OWN = (Path("/run"), Path("/mnt"))


@dataclass(frozen=True)
class Room:
    """Where the programs of a node live; `joins` is the file of a cgroup that they are written to first, if any."""

    place: Place
    name: str
    joins: Path | None = None

    @property
    def netns(self) -> str:
        """Return the name of its network namespace."""
        return self.place.namespace_of(self.name)

    @property
    def mounts(self) -> Path:
        """Return the file that holds its mount namespace."""
        return self.place.rooms / f"{self.name}.mnt"

    @property
    def host(self) -> Path:
        """Return the file that holds its host name's namespace."""
        return self.place.rooms / f"{self.name}.uts"

    @property
    def folder(self) -> Path:
        """Return the folder on this machine for what its servers keep; it goes with the lab."""
        return self.place.folder.resolve() / "nodes" / self.name

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return what to put before a command to run it on the node; it starts in the folder /."""
        join = (sys.executable, "-S", "-E", str(_ENTER), str(self.joins)) if self.joins else ()
        return (
            *join,
            "nsenter",
            f"--net={_NETNS / self.netns}",
            f"--mount={self.mounts}",
            f"--uts={self.host}",
            "--",
        )

    def do(self, *words: object, feed: str = "") -> str:
        """Run a short command on the node; LabError holds what it refused."""
        return do(*self.prefix, *words, feed=feed)

    def make(self, hosts: Path) -> None:
        """Make its namespaces; its network's is there. `hosts` becomes its /etc/hosts."""
        self.mounts.touch()
        self.host.touch()
        # A slave: what is unmounted on this machine is not held on to, and nothing of the node's is seen outside.
        namespaces = ("unshare", f"--mount={self.mounts}", f"--uts={self.host}", "--propagation", "slave")
        do(*namespaces, "tee", "/proc/sys/kernel/hostname", feed=self.name)
        self.do("mount", "--bind", hosts, "/etc/hosts")
        # Of its own network namespace: what a program finds below /sys/class/net. Its cgroups are the machine's.
        aside = Path("/mnt")
        self.do("mount", "--rbind", _CGROUPS, aside)
        self.do("mount", "-t", "sysfs", "sysfs", "/sys")
        self.do("mount", "--rbind", aside, _CGROUPS)
        self.do("umount", "--lazy", aside)
        for own in _OWN:
            self.do("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", own)

    def bind(self, folder: Path, over: Path) -> None:
        """Give the node a folder of its own (made if missing) in the place of one that this machine has."""
        folder.mkdir(parents=True, exist_ok=True)
        self.do("mount", "--bind", folder, over)

    def make_folder(self, path: Path) -> None:
        """Make a folder that only the node sees."""
        self.do("mkdir", "-p", path)


def prepare(place: Place, lines: Iterable[str]) -> Path:
    """Make the folder that holds the namespaces, and in it the nodes' hosts file of these lines; return the file."""
    for own in _OWN:
        if own in Path(__file__).resolve().parents or own in place.folder.resolve().parents:
            raise LabError(
                f"Nodes have a {own} of their own, so neither the project nor the lab's state may lie there."
            )
    rooms = place.rooms
    rooms.mkdir(mode=0o711, exist_ok=True)
    # A mount namespace can be held only by a file on a mount that is not shared.
    do("mount", "--bind", rooms, rooms)
    do("mount", "--make-private", rooms)
    hosts = rooms / "hosts"
    hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return hosts


def clear(place: Place) -> int:
    """Let go of every namespace of a place; return how many nodes' there were. Their processes must have ended."""
    rooms = place.rooms
    if not rooms.exists():
        return 0
    held = sorted(rooms.glob("*.mnt")) + sorted(rooms.glob("*.uts"))
    for file in held:
        _unmount(file)
        file.unlink()
    # Once for each lab that was killed while it made this folder.
    while _unmount(rooms):
        pass
    shutil.rmtree(rooms)
    return sum(file.suffix == ".mnt" for file in held)


def _unmount(path: Path) -> bool:
    """Unmount what is mounted there; False if nothing is."""
    if not _is_mounted(path):
        return False
    do("umount", "--lazy", path)
    return True


def _is_mounted(path: Path) -> bool:
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return any(line.split()[4] == str(path) for line in mounts)
