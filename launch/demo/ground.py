"""Where the demo measures: two emulated sites where the machine allows it, else two addresses of this machine."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launch import folder_lock, signals
from launch.home import Home
from launch.process import Process
from launch.supervisor import print_event

Json = dict[str, Any]
# Stops after agents and web server: both use its namespaces.
_TIER = 10


@dataclass(frozen=True)
class Place:
    """A node: its name and site, its data-plane address, and what to put before a command to run it there.

    `rules` are what its agent is to have in its configuration beyond what enrolling writes there.
    """

    name: str
    site: str
    address: str
    interface: str
    prefix: tuple[str, ...] = ()
    rules: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Ground:
    """The nodes, the address at which they reach the server, and in words what it is.

    `inventory` is the inventory file that describes a lab, empty for anything else.
    """

    words: str
    places: tuple[Place, ...]
    server_host: str
    inventory: str = ""

    @property
    def is_lab(self) -> bool:
        """Say whether these are the nodes of a lab."""
        return bool(self.inventory)

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
    return Ground("between two addresses of this machine", places, "127.0.0.1")


def lab_state(folder: Path) -> Json | None:
    """Return the state of the lab that is up in `folder`, or None."""
    try:
        return json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def of_lab(state: Json) -> Ground:
    """Return the ground that a lab's state describes."""
    places = tuple(
        Place(
            node["name"],
            node["site"],
            node["data_addresses"][0],
            node["data_interface"],
            tuple(node["prefix"]),
            rules_of(node),
        )
        for node in state["nodes"]
    )
    words = "over " + "; ".join(
        f"an emulated link of {link['capacity_bps'] / 1e6:g} Mbit/s and {link['rtt_s'] * 1e3:g} ms ({link['name']})"
        for link in state["links"]
        if link["kind"] == "emulated"
    )
    inventory = Path(state["inventory"]).read_text(encoding="utf-8")
    return Ground(words, places, state["management"]["address"], inventory)


def rules_of(node: Json) -> Json:
    """Return what the agent of a lab's node is to have in its configuration; nothing for what its file leaves out."""
    return {name: node[name] for name in ("programs", "remote_shells", "settings", "user", "paths") if node.get(name)}


def build_lab(root: Path, folder: Path, file: Path | None = None, held: tuple[int, ...] = ()) -> str:
    """Build a lab (KISTI and Pusan's unless a file is given), or mend it; return "" or why there is none.

    What builds it holds the files `held` open, too.
    """
    argv = _lab_argv(root, folder, file)
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False, pass_fds=held)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"exit status {done.returncode}")


@contextlib.contextmanager
def standing_lab(root: Path, home: Home, file: Path | None = None) -> Iterator[tuple[Json | None, str]]:
    """Build a lab for a service that is to start in the context; yield its state, or None and why there is none.

    The service's folder is taken first: nobody else builds there, or takes down what is there. The lab goes if the
    context fails, or this process is killed in it: it may not have come to the process that takes it down. One that
    was there before is somebody's, and stays.
    """
    folder_lock.take(home, print_event, "lab")
    try:
        with _standing(root, lab_folder(home), file) as lab:
            yield lab
    finally:
        home.unlock()


def lab_folder(home: Home) -> Path:
    """Return where the lab of a service's folder has its state."""
    return home.folder / "lab"


@contextlib.contextmanager
def _standing(root: Path, folder: Path, file: Path | None) -> Iterator[tuple[Json | None, str]]:
    was_up = lab_state(folder) is not None
    with contextlib.nullcontext(()) if was_up else _heir(root, folder) as held:
        try:
            with signals.interrupted_by_all():
                reason = build_lab(root, folder, file, held)
            state = None if reason else lab_state(folder)
            yield state, reason or ("" if state else f"{folder} holds no lab.")
        except BaseException:
            if not was_up:
                take_lab_down(root, folder)
            raise


@contextlib.contextmanager
def _heir(root: Path, folder: Path) -> Iterator[tuple[int, ...]]:
    """Have a process of its own session take a lab down if this one ends within the context, whatever ends it.

    Yield what whoever builds the lab is to hold open: the heir waits for its end, too.
    """
    argv = (sys.executable, "-m", "lab", "down", "--orphaned", "--state", str(folder))
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        argv, cwd=root, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
    ) as heir:
        assert heir.stdin is not None
        try:
            yield (heir.stdin.fileno(),)
        finally:
            with contextlib.suppress(BrokenPipeError):
                heir.stdin.write(b"\n")
                heir.stdin.close()


def take_lab_down(root: Path, folder: Path) -> None:
    """Take down the lab that is up in `folder`, if one is."""
    argv = (sys.executable, "-m", "lab", "down", "--state", str(folder))
    subprocess.run(argv, cwd=root, capture_output=True, check=False)


def lab_process(root: Path, home: Home, file: Path | None = None) -> Process:
    """Return the process that mends the lab's links while the service runs, and takes the lab down at its end."""
    return Process("lab", (*_lab_argv(root, lab_folder(home), file), "--hold"), cwd=root, tier=_TIER)


def _lab_argv(root: Path, folder: Path, file: Path | None) -> tuple[str, ...]:
    file = file or root / "lab" / "kisti-pusan.yaml"
    return (sys.executable, "-m", "lab", "up", str(file), "--state", str(folder))
