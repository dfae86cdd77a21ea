"""Limits on a block device: cgroup v2's io.max where the machine has it, else the block controller of cgroup v1."""

from dataclasses import dataclass
from pathlib import Path

from lab.machine import LabError

CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Throttle:
    """A cgroup whose processes share the limits; `is_v2` says of which kind it is."""

    group: Path
    is_v2: bool

    @property
    def members(self) -> Path:
        """Return the file that a process is written to when it joins."""
        return self.group / "cgroup.procs"

    def limit(self, device: str, *, read: int, write: int) -> None:
        """Limit a device ("7:0") to bytes a second, 0 meaning no limit."""
        if self.is_v2:
            words = f"{device} rbps={read or 'max'} wbps={write or 'max'}"
            self._write("io.max", words)
        else:
            self._write("blkio.throttle.read_bps_device", f"{device} {read}")
            self._write("blkio.throttle.write_bps_device", f"{device} {write}")

    def _write(self, name: str, words: str) -> None:
        try:
            (self.group / name).write_text(words)
        except OSError as error:
            raise LabError(f"{self.group / name} refused {words!r}: {error.strerror}.") from error


def find(name: str, cgroups: Path = CGROUPS) -> Throttle | None:
    """Return the group of this name, made if it is missing, or None where the machine has no such controller.

    With cgroup v1 it is the topmost group: write-back happens there, and two groups would have a limit each.
    """
    if _offers_io(cgroups):
        group = cgroups / name
        try:
            (cgroups / "cgroup.subtree_control").write_text("+io")
            group.mkdir(exist_ok=True)
        except OSError as error:
            raise LabError(f"The cgroup {group} cannot be made: {error.strerror}.") from error
        return Throttle(group, is_v2=True)
    if (cgroups / "blkio" / "blkio.throttle.read_bps_device").exists():
        return Throttle(cgroups / "blkio", is_v2=False)
    return None


def to_join(name: str, cgroups: Path = CGROUPS, own: Path = Path("/proc/self/cgroup")) -> Path | None:
    """Return the file that a limited node's programs are written to, or None if they are in that group anyhow."""
    group = find(name, cgroups)
    if group is None:
        return None
    rows = [line.split(":", 2) for line in own.read_text().splitlines()]
    here = next((path for _, controllers, path in rows if "blkio" in controllers.split(",")), "/")
    return group.members if group.is_v2 or here != "/" else None


def remove(name: str, cgroups: Path = CGROUPS) -> None:
    """Remove a group of cgroup v2 whose processes have ended; that of v1 is the machine's own."""
    group = cgroups / name
    if _offers_io(cgroups) and group.is_dir():
        group.rmdir()


def _offers_io(cgroups: Path) -> bool:
    controllers = cgroups / "cgroup.controllers"
    return controllers.exists() and "io" in controllers.read_text().split()
