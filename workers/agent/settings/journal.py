"""The journal: what each setting was before, on disk before it is touched, and gone once it is put back."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..durable import put_in_place
from . import kernel
from .kernel import SettingError

SUFFIX = ".json"
# Restored by the helper and by the agent, should both be at it.
_LOCK = threading.Lock()


class Unrestored(Exception):
    """What is not as it was, in words; of settings that the kernel does not take back the journal is kept."""


class Dropped(Unrestored):
    """What the kernel dropped for good: nothing is left to be put back, and the journal is gone."""


class Journals:
    """The folder of journals, one a job, which only the agent's own user can write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, job_id: str, wanted: Mapping[str, str], interface: str) -> None:
        """Keep what a job wants, before anything is done; SettingError if another job has set one of the same."""
        held = {key: other for other in self.jobs() for key in self._read(other)["wanted"]}
        conflicts = sorted(set(wanted) & set(held))
        if conflicts:
            raise SettingError(f"{conflicts[0]} is set for the job {held[conflicts[0]]} already")
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._write(job_id, {"wanted": dict(wanted), "interface": interface, "boot": _boot()})

    def jobs(self) -> list[str]:
        """Return the jobs whose settings are not put back yet."""
        return sorted(path.stem for path in self.folder.glob("*" + SUFFIX)) if self.folder.is_dir() else []

    def apply(self, job_id: str) -> dict[str, dict[str, str]]:
        """Set what a job wants and return {key: {"earlier", "applied"}}; SettingError puts all of it back."""
        entry = self._read(job_id)
        wanted, interface = entry["wanted"], entry["interface"]
        keys = dict.fromkeys(key for name in wanted for key in (name, kernel.TWINS.get(name)) if key)
        entry["earlier"] = {key: kernel.read(key, interface) for key in keys}
        self._refuse_what_cannot_come_back(entry["earlier"])
        if kernel.MTU in wanted:
            # Those that stand on it (VLANs, macvlans) the kernel lowers with it, and does not raise again.
            entry["others"] = {name: mtu for name, mtu in kernel.mtus().items() if mtu > int(wanted[kernel.MTU])}
        if any(key == kernel.MTU or key.startswith("net.ipv6.") for key in wanted):
            entry["ipv6"] = kernel.lasting_ipv6()
        self._write(job_id, entry)
        try:
            applied = {key: self._apply_one(key, value, entry) for key, value in wanted.items()}
            self._write(job_id, {**entry, "others": _changed(entry["others"])} if "others" in entry else entry)
            return applied
        except (SettingError, OSError):
            self.restore(job_id)
            raise

    def drifts(self, job_id: str, applied: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        """Return what settings are ("?": nobody knows) that are no more as `apply` returned: set by others."""
        interface = self._read(job_id)["interface"]
        now = {key: _found(key, interface) for key in applied}
        strays = {key: value for key, value in now.items() if value != applied[key]["applied"]}
        return {key: "?" if value is None else value for key, value in strays.items()}

    def restore(self, job_id: str) -> None:
        """Put back what a job found, and forget it; Unrestored says what is not as it was all the same."""
        with _LOCK:
            if job_id not in self.jobs():
                return
            entry = self._read(job_id)
            troubles = []
            for key, value in reversed(list(entry.get("earlier", {}).items())):
                try:
                    self._restore_one(key, value, entry)
                except SettingError as error:
                    troubles.append(f"{key} was {value} before ({error})")
            same_boot = entry["boot"] == _boot()
            troubles += self._restore_others(entry) if same_boot and not troubles else []
            if troubles:
                raise Unrestored("; ".join(troubles))
            (self.folder / (job_id + SUFFIX)).unlink(missing_ok=True)
            if same_boot and (dropped := _dropped(entry.get("ipv6", []))):
                raise Dropped(f"what was set is put back, but the kernel dropped {'; '.join(dropped)}")

    def _apply_one(self, key: str, value: str, entry: Mapping[str, Any]) -> dict[str, str]:
        kernel.write(key, value, entry["interface"])
        applied = kernel.read(key, entry["interface"])
        if not kernel.agrees(key, value, applied):
            raise SettingError(f"{key}: the kernel made {applied} of {value}")
        return {"earlier": entry["earlier"][key], "applied": applied}

    def _restore_one(self, key: str, value: str, entry: Mapping[str, Any]) -> None:
        interface = entry["interface"]
        # Empty because its twin was in use: that one is put back.
        if key in kernel.TWINS and value == "0":
            return
        # The machine was started anew and has forgotten us; what is there now, or is not, is somebody else's wish.
        if entry["boot"] != _boot() and _found(key, interface) != entry["wanted"].get(key):
            return
        if kernel.read(key, interface) == value:
            return
        kernel.write(key, value, interface)
        if kernel.read(key, interface) != value:
            raise SettingError(f"{key} is {kernel.read(key, interface)} and should be {value}")

    def _restore_others(self, entry: Mapping[str, Any]) -> list[str]:
        """Raise the MTU of interfaces that the kernel lowered with the one that was set; return what failed."""
        troubles = []
        for name, mtu in _changed(entry.get("others", {})).items():
            # What another value has since is somebody else's wish.
            if name != entry["interface"] and kernel.mtus().get(name) == int(entry["wanted"][kernel.MTU]):
                try:
                    kernel.write(kernel.MTU, str(mtu), name)
                except SettingError as error:
                    troubles.append(f"{kernel.MTU} of {name} was {mtu} before ({error})")
        return troubles

    def _refuse_what_cannot_come_back(self, earlier: Mapping[str, str]) -> None:
        """Refuse to replace a queue discipline that was set with options and classes of its own."""
        discipline = earlier.get(kernel.QDISC, kernel.DEFAULT)
        if discipline != kernel.DEFAULT:
            raise SettingError(f"qdisc: somebody has set {discipline}, which could not be put back as it was")

    def _read(self, job_id: str) -> dict[str, Any]:
        """Return a job's journal; a damaged one, which was never complete, holds nothing to put back."""
        try:
            entry = json.loads((self.folder / (job_id + SUFFIX)).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            entry = {}
        return {"wanted": {}, "interface": "", "boot": "", **(entry if isinstance(entry, dict) else {})}

    def _write(self, job_id: str, entry: Mapping[str, Any]) -> None:
        """Have a journal on disk, whole, before returning; OSError is the node's own."""
        draft = self.folder / (job_id + ".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(entry, file)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(draft, self.folder / (job_id + SUFFIX))


def _changed(mtus: Mapping[str, int]) -> dict[str, int]:
    """Return those of {interface: MTU} that have another one now."""
    now = kernel.mtus() if mtus else {}
    return {name: mtu for name, mtu in mtus.items() if now.get(name, mtu) != mtu}


def _found(key: str, interface: str) -> str | None:
    """Return the present value, None if there is none."""
    try:
        return kernel.read(key, interface)
    except SettingError:
        return None


def _dropped(ipv6: Sequence[str]) -> list[str]:
    """Return those addresses and routes that are not there any more, or that it cannot be told."""
    try:
        now = kernel.lasting_ipv6() if ipv6 else []
    except SettingError as error:
        return [f"what cannot be told ({error})"]
    return [line for line in ipv6 if line not in now]


def _boot() -> str:
    """Return what tells this start of the machine from every other."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
