"""Disks of nodes: files of this machine as loop devices, formatted, mounted on their node, and limited."""

import os
import time
from pathlib import Path

from lab import machine
from lab.file_systems import throttle
from lab.file_systems.spec import BLOCK_BYTES, Disk
from lab.machine import LabError, do
from lab.rooms import Room
from lab.services import need
from lab.state import Place

_LOOPS = Path("/sys/block")
_RELEASED_S = 5.0


def make(disk: Disk, room: Room) -> None:
    """Make the disk and mount it on its node, open to every user; LabError if the machine refuses."""
    image = _images(room.place) / f"{disk.name}.img"
    image.parent.mkdir(parents=True, exist_ok=True)
    mkfs = need(f"mkfs.{disk.format}", "xfsprogs" if disk.format == "xfs" else "e2fsprogs", f"The disk {disk.name}")
    free = os.statvfs(image.parent)
    if free.f_bavail * free.f_frsize < disk.size_bytes:
        raise LabError(
            f"The disk {disk.name} needs {disk.size_bytes} bytes, and {image.parent} has not so many free."
        )
    with image.open("wb") as file:
        # All of it now: a machine that is full later would look like a broken disk.
        os.posix_fallocate(file.fileno(), 0, disk.size_bytes)
    # Direct: else this machine keeps a copy in memory, and answers the node's reads from there.
    device = do("losetup", "--find", "--show", "--direct-io=on", image).strip()
    quiet = ("-q", "-b", f"size={BLOCK_BYTES}") if disk.format == "xfs" else ("-q", "-b", BLOCK_BYTES)
    do(mkfs, *quiet, device)
    room.make_folder(disk.path)
    room.do("mount", device, disk.path)
    # From here on the device goes when the last mount of it goes.
    do("losetup", "--detach", device)
    room.do("chmod", "1777", disk.path)
    if disk.is_limited:
        _limit(disk, device, room.place)


def _limit(disk: Disk, device: str, place: Place) -> None:
    group = throttle.find(place.group)
    if group is None:
        raise LabError(
            f"The disk {disk.name} cannot be limited here: this machine has neither the io controller of cgroup v2 "
            f"nor blkio of v1; leave out its read and write."
        )
    group.limit(_number(Path(device).name), read=disk.read_bytes_per_s, write=disk.write_bytes_per_s)


def lift_limits(place: Place) -> None:
    """Take the limits off this place's devices: their numbers will be another's."""
    group = throttle.find(place.group) if _devices(place) else None
    if group is not None:
        for device in _devices(place):
            group.limit(_number(device), read=0, write=0)


def clear(place: Place) -> int:
    """Give back the devices of a place, whose mounts must be gone, and remove their files; return how many."""
    images = sorted(_images(place).glob("*.img"))
    deadline = time.monotonic() + _RELEASED_S
    while (devices := _devices(place)) and time.monotonic() < deadline:
        for device in devices:
            # Refused when it has gone by itself meanwhile.
            machine.run(["losetup", "--detach", f"/dev/{device}"])
        time.sleep(0.05)
    if devices:
        raise LabError(f"The devices {', '.join(devices)} are still in use; see lsblk.")
    for image in images:
        image.unlink()
    if images:
        _images(place).rmdir()
    throttle.remove(place.group)
    return len(images)


def _images(place: Place) -> Path:
    return place.folder / "disks"


def _devices(place: Place) -> list[str]:
    """Return the loop devices whose files lie in this place."""
    folder = str(_images(place).resolve()) + "/"
    devices = []
    for path in sorted(_LOOPS.glob("loop*/loop/backing_file")):
        try:
            if path.read_text().startswith(folder):
                devices.append(path.parts[-3])
        except OSError:
            continue
    return devices


def _number(device: str) -> str:
    return (_LOOPS / device / "dev").read_text().strip()
