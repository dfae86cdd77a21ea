"""Debian's packages for the set-up: which can be had, from non-free too, and installed without starting anything.

Standard library only, and written for old Pythons too, as the set-up is.
"""

import os
import subprocess
import time
from pathlib import Path

SOURCES = Path("/etc/apt/sources.list.d")
SOURCES_LIST = Path("/etc/apt/sources.list")
UNITS = Path("/lib/systemd/system")
RELEASE = Path("/etc/os-release")
ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
# Another apt may be at work: it is waited for, within the time that is left.
_QUIET = ("-qq", "-o", "Dpkg::Use-Pty=0")


class Apt:
    """apt with a private list of packages beside the machine's own: `folder` holds it; nothing else is changed."""

    def __init__(self, folder, within_s):
        self.folder = folder
        self.deadline = time.monotonic() + within_s

    def install(self, packages):
        """Install what can be had of these packages, in time; return {package: why not} for the rest."""
        if self.call([], "update") is None:
            return dict.fromkeys(packages, "the package lists could not be fetched in time")
        available = self.candidates(packages)
        missing = self._install([], available)
        others = [name for name in packages if name not in available]
        private = self.private_options() if others else []
        if private and self.call(private, "update") is not None:
            available = self.candidates(others, private)
            missing.update(self._install(private, available))
            others = [name for name in others if name not in available]
        missing.update(dict.fromkeys(others, "no package of that name can be had here"))
        return missing

    def _install(self, options, packages):
        """Fetch first, which may take long and can be given up; what is fetched is installed to the end."""
        if not packages:
            return {}
        words = ["install", "--no-install-recommends", "-y"]
        if self.call(options, *words, "--download-only", *packages) is None:
            return dict.fromkeys(packages, "it could not be fetched in time")
        before = _units()
        done = self.call(options, *words, *packages, bounded=False)
        _keep_off(_units() - before)
        return {} if done is not None else dict.fromkeys(packages, "apt-get refused to install it")

    def candidates(self, packages, options=()):
        """Return those of the packages that can be installed."""
        policy = self.call(list(options), "policy", *packages, program="apt-cache", quiet=False) or ""
        return [name for name in packages if _has_candidate(policy, name)]

    def private_options(self):
        """Return apt's options for the non-free part of Debian's archives that the machine uses; [] elsewhere."""
        lines = non_free_sources()
        if not lines:
            return []
        lists = self.folder / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        sources = self.folder / "non-free.list"
        sources.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        places = {"Etc::SourceList": sources, "Etc::SourceParts": "-", "State::Lists": lists}
        return [word for name, place in places.items() for word in ("-o", f"Dir::{name}={place}")]

    def call(self, options, *words, program="apt-get", quiet=True, bounded=True):
        """Run apt and return what it printed; None if it failed or took too long."""
        left = max(1.0, self.deadline - time.monotonic())
        lock = ["-o", f"DPkg::Lock::Timeout={left:.0f}"]
        argv = [program, *(_QUIET if quiet else ()), *lock, *options, *words]
        try:
            done = subprocess.run(
                argv,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=left if bounded else None,
                env={**os.environ, **ENVIRONMENT},
            )
        except (subprocess.TimeoutExpired, OSError):
            return None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def non_free_sources():
    """Return lines for the non-free part of the Debian archives in the machine's own sources, [] if they have it."""
    if "ID=debian\n" not in (RELEASE.read_text(encoding="utf-8") if RELEASE.exists() else ""):
        return []
    lines = []
    entries = [entry for entry in _own_sources() if "deb" in entry[0] and entry[1].rstrip("/").endswith("/debian")]
    if any("non-free" in components for _, _, _, components, _ in entries):
        return []
    for _, address, suites, components, key in entries:
        if "main" not in components:
            continue
        signed = f"[signed-by={key}] " if key else ""
        lines += [f"deb {signed}{address} {suite} non-free" for suite in suites]
    return lines


def _own_sources():
    """Yield (types, address, suites, components, key) for each entry, of both forms that apt reads."""
    for path in sorted(SOURCES.glob("*.sources")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            lines = [line for line in block.splitlines() if not line.startswith("#")]
            fields = {name.strip(): value.split() for name, _, value in (line.partition(":") for line in lines)}
            key = (fields.get("Signed-By") or [""])[0]
            for address in fields.get("URIs", []):
                yield fields.get("Types", []), address, fields.get("Suites", []), fields.get("Components", []), key
    for path in [SOURCES_LIST, *sorted(SOURCES.glob("*.list"))]:
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            words = line.partition("#")[0].replace("[", " [ ").replace("]", " ] ").split()
            options = words[words.index("[") + 1 : words.index("]")] if "[" in words and "]" in words else []
            plain = words[:1] + words[words.index("]") + 1 :] if options else words
            key = next((word.partition("=")[2] for word in options if word.startswith("signed-by=")), "")
            if len(plain) > 3:
                yield plain[:1], plain[1], plain[2:3], plain[3:], key


def _has_candidate(policy, name):
    """Say whether apt-cache policy names a version that could be installed."""
    block = ("\n" + policy).partition(f"\n{name}:\n")[2]
    line = next((line for line in block.splitlines() if line.startswith("  Candidate:")), "")
    return bool(line) and "(none)" not in line


def _units():
    return {path.name for path in UNITS.glob("*.s*") if path.suffix in (".service", ".socket")}


def _keep_off(units):
    """Stop the services that came with a package, and have them stay off: their programs are run by hand here."""
    if units and Path("/run/systemd/system").is_dir():
        subprocess.run(
            ["systemctl", "disable", "--now", *sorted(units)],  # noqa: S607
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
