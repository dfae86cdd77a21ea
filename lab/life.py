"""How a lab comes up, is mended, and goes away, also what a killed one left."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from lab import doors, emulator, interrupts, inventory_file, machine, netem, rooms, services
from lab.build import Builder
from lab.file_systems import disk
from lab.machine import LabError, ip
from lab.spec import Lab
from lab.state import Place, State

Say = Callable[[str], None]


def bring_up(lab: Lab, place: Place, *, kind: str, parent: int, say: Say) -> State:
    """Bring a lab up, clearing away what stands in its place; if it is up already, only mend its links.

    LabError if that fails, KeyboardInterrupt if a signal stops it; nothing of it is left then.
    """
    with place.locked(), interrupts.held() as check:
        state = place.read_state()
        if state is not None and _stands(state, lab, kind):
            say(f"lab {lab.name} is up already: {place.state_file}")
            return mend(lab, place, state, parent=parent, say=say)
        clear(place, say)
        started = time.monotonic()
        builder = Builder(lab, place, _choose_emulator(kind, place, say), parent, say, check)
        try:
            state = builder.build() | {"emulator": list(builder.emulator), "emulator_kind": kind}
            place.inventory_file.write_text(inventory_file.text_of(state), encoding="utf-8")
            place.write_state(state)
        except BaseException:
            clear(place, say)
            raise
        for note in buffer_notes(lab, Path("/proc/sys/net/core")):
            say(note)
        say(f"lab {lab.name} is up after {time.monotonic() - started:.1f} s: {place.state_file}")
        return state


def _stands(state: State, lab: Lab, kind: str) -> bool:
    if dead_services(state):
        return False
    there = {*machine.namespaces("fathom-"), *machine.interfaces("fm")}
    named = {state["management"]["bridge"], *(item["netns"] for item in state["switches"] + state["nodes"])}
    return state["digest"] == lab.digest and kind in ("auto", state["emulator_kind"]) and named <= there


def _choose_emulator(kind: str, place: Place, say: Say) -> tuple[str, ...]:
    if kind in ("auto", "netem") and netem.is_there(place):
        return netem.COMMAND
    if kind == "netem":
        raise LabError("This kernel has no netem (tc qdisc netem): choose another emulator.")
    return emulator.choose(kind, place.folder, say)


def dead_services(state: State) -> list[str]:
    """Return the servers of a lab that have ended, as "glusterd of kisti-1"."""
    homes = [node["netns"] for node in state["nodes"]]
    if not state["services"] or not set(homes) <= set(machine.namespaces("fathom-")):
        return []
    there = machine.processes_within(homes)
    return [f"{item['name']} of {item['node']}" for item in state["services"] if not services.lives(item, there)]


def mend(lab: Lab, place: Place, state: State, *, parent: int, say: Say) -> State:
    """Build the links anew whose emulators have died; return the state as it is then. The place must be locked."""
    alive = emulator.carries(place.interface_prefix)
    emulated = [link for link in state["links"] if link["kind"] == "emulated" and link["pid"] is not None]
    dead = [link for link in emulated if not alive(link["pid"])]
    if not dead:
        return state
    builder = Builder(lab, place, tuple(state["emulator"]), parent, say)
    for entry in dead:
        say(f"link {entry['name']}: its emulator (process {entry['pid']}) is gone; starting another")
        link = next(link for link in lab.links if link.name == entry["name"])
        builder.make_link(link)
        entry["pid"] = builder.pids[link.name]
    builder.set_routes()
    place.write_state(state)
    return state


def clear(place: Place, say: Say) -> None:
    """Remove everything that any lab of this place has or left: processes, interfaces, namespaces, disks, the state.

    Things are found by their names, not by the state file, so that nothing of a killed lab is missed.
    """
    place.forget_state()
    homes = machine.namespaces(place.namespace_prefix)
    ended = machine.end_processes(emulator.carries(place.interface_prefix))
    ended += machine.end_processes(machine.processes_within(homes))
    devices = machine.interfaces(place.interface_prefix)
    for device in devices:
        ip("link", "delete", device)
    disk.lift_limits(place)
    rooms.clear(place)
    for home in homes:
        ip("netns", "delete", home)
    disks = disk.clear(place)
    doors.clear(place)
    shutil.rmtree(place.folder / "nodes", ignore_errors=True)
    shutil.rmtree(place.folder / "slurm", ignore_errors=True)
    if homes or devices or ended:
        and_disks = f", {disks} disks" if disks else ""
        say(f"removed {len(homes)} namespaces, {len(devices)} interfaces{and_disks} and {ended} processes")


def take_down(place: Place, *, say: Say) -> None:
    """Take down whatever lab is up here, or was."""
    with place.locked(), interrupts.held():
        clear(place, say)


def buffer_notes(lab: Lab, settings: Path) -> list[str]:
    """Return a line for each limit of the whole machine that is too small for a lab's lines; the lab sets none."""
    needed = max((int(2 * link.capacity_bps * link.rtt_s / 8) for link in lab.links), default=0)
    notes = []
    for key in ("rmem_max", "wmem_max"):
        limit = int((settings / key).read_text())
        if limit < needed:
            notes.append(
                f"note: net.core.{key} is {limit}, so no window set by hand (iperf3 -w) gets larger; twice the BDP "
                f"here is {needed}. It belongs to the whole machine; to raise it: sysctl -w net.core.{key}={needed}"
            )
    return notes
