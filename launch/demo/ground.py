"""Where the demo measures: two emulated sites where the machine allows it, else two addresses of this machine."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.process import Process

Json = dict[str, Any]
# Stops after agents and web server: both use its namespaces.
_TIER = 10


@dataclass(frozen=True)
class Place:
    """A node: its name and site, its data-plane address, and what to put before a command to run it there."""

    name: str
    site: str
    address: str
    interface: str
    prefix: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ground:
    """The nodes, the links between them, the address at which they reach the server, and in words what it is."""

    words: str
    places: tuple[Place, ...]
    switches: tuple[tuple[str, str], ...]
    links: tuple[Json, ...]
    server_host: str
    is_lab: bool

    @property
    def client(self) -> Place:
        """Return the node that sends: the first of the first site."""
        return self.places[0]

    @property
    def server(self) -> Place:
        """Return the node that receives: the first of another site."""
        return next(place for place in self.places if place.site != self.client.site)


def loopback() -> Ground:
    """Return two nodes that are addresses of this machine; all of 127.0.0.0/8 is there on Linux."""
    places = (Place("local-1", "This machine", "127.0.1.1", "lo"), Place("local-2", "Next door", "127.0.1.2", "lo"))
    return Ground("between two addresses of this machine", places, (), (), "127.0.0.1", False)


def lab_state(folder: Path) -> Json | None:
    """Return the state of the lab that is up in `folder`, or None."""
    try:
        return json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def of_lab(state: Json) -> Ground:
    """Return the ground that a lab's state describes; access links are virtual Ethernet, taken as 10 Gbit/s."""
    switches = {switch["name"]: switch["site"] for switch in state["switches"]}
    places = tuple(
        Place(
            node["name"],
            node["site"],
            node["data_addresses"][0],
            node["data_interface"],
            ("ip", "netns", "exec", node["netns"]),
        )
        for node in state["nodes"]
    )
    links = tuple({**link, "capacity_bps": link["capacity_bps"] or 10_000_000_000} for link in state["links"])
    words = "over " + "; ".join(
        f"an emulated link of {link['capacity_bps'] / 1e6:g} Mbit/s and {link['rtt_s'] * 1e3:g} ms ({link['name']})"
        for link in links
        if link["kind"] == "emulated"
    )
    return Ground(words, places, tuple(switches.items()), links, state["management"]["address"], True)


def build_lab(root: Path, folder: Path) -> str:
    """Build the KISTI-Pusan lab, or mend it; return "" or why there is none."""
    done = subprocess.run(_lab_argv(root, folder), cwd=root, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"exit status {done.returncode}")


def lab_process(root: Path, folder: Path) -> Process:
    """Return the process that mends the lab's links while the demo runs, and takes the lab down at its end."""
    return Process("lab", (*_lab_argv(root, folder), "--hold"), cwd=root, tier=_TIER)


def _lab_argv(root: Path, folder: Path) -> tuple[str, ...]:
    file = root / "lab" / "kisti-pusan.yaml"
    return (sys.executable, "-m", "lab", "up", str(file), "--state", str(folder))
