"""Lab files and the commands on them, for the tests of this folder."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

import lab
from lab.state import Place
from tests import interfaces

ROOT = Path(__file__).resolve().parents[2]
KISTI_PUSAN = ROOT / "lab" / "kisti-pusan.yaml"
KNU_CALTECH = ROOT / "lab" / "knu-caltech.yaml"


def why_not() -> str | None:
    """Return why no real lab can be built and measured here."""
    missing = [tool for tool in ("ping", "iperf3") if shutil.which(tool) is None]
    return lab.possible() or (f"{' and '.join(missing)} must be installed" if missing else None)


_POSSIBLE = [pytest.mark.lab, pytest.mark.skipif(why_not() is not None, reason=why_not() or "")]
# The marks of a module whose tests build a real lab: one after the other, since together they load the machine.
REAL = [*_POSSIBLE, pytest.mark.xdist_group("lab")]
# Those of a module whose tests measure it, too: they wait more than they work, and go before all others meanwhile.
QUIET = [*_POSSIBLE, pytest.mark.xdist_group("quiet"), pytest.mark.quiet]

# Of processes that want to run, per processor: with more no rate is that of the line.
STARVED = 3.0


def refute(why: str) -> NoReturn:
    """Fail, for no try came to what it must; skip if the machine could not have shown it."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    if load > STARVED:
        pytest.skip(f"the machine was busy with {load:.0f} times what it can do: {why}")
    pytest.fail(why)


SMALL = """
name: small
switches:
  - {name: left, site: Left, subnet: 10.96.1.0/24}
  - {name: right, site: Right, subnet: 10.96.2.0/24}
nodes:
  - {name: one, switch: left, address: 10.96.1.11}
  - {name: two, switch: right, address: 10.96.2.11}
links:
  - name: Left-Right
    between: [left, right]
    subnet: 10.96.255.0/30
    capacity: 50 Mbit/s
    rtt: 20 ms
    queue: 100 kB
"""


@dataclass(frozen=True)
class LabAt:
    """The lab's commands on one state folder, each as a process of its own."""

    folder: Path

    def argv(self, *arguments: str | Path) -> list[str]:
        command, *rest = map(str, arguments)
        return [sys.executable, "-m", "lab", command, "--state", str(self.folder), *rest]

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        with interfaces.held() if arguments[0] in ("up", "down") else nullcontext():
            return subprocess.run(
                self.argv(*arguments),
                cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip

    @contextmanager
    def building(self, *options: str | Path) -> Iterator[subprocess.Popen[str]]:
        """Start `up` with these options, for whoever stops it midway or takes the lab down under it."""
        with interfaces.held(), self.start("up", *options) as process:
            yield process

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def up(self, file: Path, *options: str) -> dict[str, Any]:
        done = self.run("up", file, *options)
        assert done.returncode == 0, done.stderr
        return self.state

    def inside(self, place: str, *argv: str) -> list[str]:
        """Return a command as one on a node or switch; the lab's own `exec` starts Python to say the same."""
        state = self.state
        homes = {node["name"]: node["prefix"] for node in state["nodes"]}
        homes |= {switch["name"]: ["ip", "netns", "exec", switch["netns"]] for switch in state["switches"]}
        return [*homes[place], *argv]

    def attempt(self, place: str, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.inside(place, *argv), capture_output=True, text=True, timeout=120, check=False)

    def on(self, place: str, *argv: str) -> str:
        done = self.attempt(place, *argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def pinged(self, place: str, address: str, *options: str) -> bool:
        return self.attempt(place, "ping", "-c", "1", "-W", "1", *options, address).returncode == 0

    def rate_mbps(self, node: str, address: str, *options: str) -> float:
        """Return what iperf3 receives in Mbit/s; a server must listen at the address."""
        report = json.loads(self.on(node, "iperf3", "-c", address, "-J", "-t", "1", "-O", "1", *options))
        assert "error" not in report, report["error"]
        return float(report["end"]["sum_received"]["bits_per_second"]) / 1e6

    @property
    def place(self) -> Place:
        return Place(self.folder)

    @property
    def state(self) -> dict[str, Any]:
        state = self.place.read_state()
        assert state is not None
        return state

    @property
    def line(self) -> dict[str, Any]:
        """Return the emulated link's state."""
        return next(link for link in self.state["links"] if link["kind"] == "emulated")

    def remains(self) -> list[str]:
        """Return every namespace, interface and process that is this lab's."""
        prefixes = (self.place.namespace_prefix, self.place.interface_prefix)
        listed = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout.split()
        listed += [path.name for path in Path("/sys/class/net").iterdir()]
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                listed += command.read_text(errors="replace").split("\0")
            except OSError:
                continue
        return [name for name in listed if name.startswith(prefixes)]


def standing(file: Path, folder: Path) -> Iterator[LabAt]:
    """Yield a lab that stands, and take it down; nothing of it may remain."""
    lab = LabAt(folder)
    try:
        lab.up(file)
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []
