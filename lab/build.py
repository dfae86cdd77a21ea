"""Builds a lab step by step, mends its links and takes it down."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

from lab import emulator, interrupts, inventory, machine, routes
from lab.machine import LabError, ip
from lab.quantities import format_quantity
from lab.spec import Lab, Link, Node, Switch
from lab.state import Place, State

Say = Callable[[str], None]
# A sender's bursts wait in the device until the emulator, which has the real queue, reads them.
_DEVICE_QUEUE_PACKETS = 10_000


@dataclass
class Builder:
    """Builds one lab at a place.

    `parent` is the process that the links' emulators die with, or 0; `check` may raise between two steps.
    """

    lab: Lab
    place: Place
    emulator: tuple[str, ...]
    parent: int
    say: Say
    check: Callable[[], None] = lambda: None
    pids: dict[str, int] = field(default_factory=dict)

    def build(self) -> State:
        """Build everything and return its state; LabError if the machine refuses something."""
        subnet = self._make_management()
        for switch in self.lab.switches:
            self._make_switch(switch)
            self.check()
        for number, node in enumerate(self.lab.nodes):
            self._make_node(number, node, subnet)
            self.check()
        for link in self.lab.links:
            self.make_link(link)
            self.check()
        self.set_routes()
        return inventory.describe(self.lab, self.place, subnet, self.pids)

    def _make_management(self) -> IPv4Network:
        subnet = choose_management(self.lab, int(self.place.token, 16))
        bridge = self.place.interface_prefix + "br"
        ip("link", "add", bridge, "type", "bridge", "forward_delay", 0, "stp_state", 0)
        ip("address", "add", _in(subnet, 1), "dev", bridge)
        ip("link", "set", bridge, "up")
        self.say(f"management: {subnet} on the bridge {bridge}; this machine is {subnet[1]}")
        return subnet

    def _make_switch(self, switch: Switch) -> None:
        home = self._make_namespace(switch.name)
        machine.set_sysctl(home, "net.ipv4.ip_forward", "1")
        # The emulated line carries IPv4 and nothing else, so that a seed always loses the same packets.
        if Path("/proc/sys/net/ipv6").exists():
            machine.set_sysctl(home, "net.ipv6.conf.default.disable_ipv6", "1")
        ip("link", "add", "br0", "mtu", switch.mtu, "type", "bridge", "forward_delay", 0, "stp_state", 0, netns=home)
        ip("address", "add", _in(switch.subnet, 1), "dev", "br0", netns=home)
        ip("link", "set", "br0", "up", netns=home)
        self.say(f"switch {switch.name} ({switch.site}): {switch.subnet}, gateway {switch.gateway}, MTU {switch.mtu}")

    def _make_node(self, number: int, node: Node, management: IPv4Network) -> None:
        home = self._make_namespace(node.name)
        switch = node.switch
        hub = self.place.namespace_of(switch.name)
        port = f"port{number}"
        pair = ("type", "veth", "peer", "name", "data0", "mtu", switch.mtu, "netns", home)
        ip("link", "add", port, "mtu", switch.mtu, *pair, netns=hub)
        ip("link", "set", port, "master", "br0", "up", netns=hub)
        ip("address", "add", f"{node.address}/{switch.subnet.prefixlen}", "dev", "data0", netns=home)

        outside = f"{self.place.interface_prefix}m{number}"
        ip("link", "add", outside, "type", "veth", "peer", "name", "mgmt0", "netns", home)
        # Isolated: a node reaches this machine over the management network, and no other node.
        ip("link", "set", outside, "master", self.place.interface_prefix + "br", "up")
        ip("link", "set", outside, "type", "bridge_slave", "isolated", "on")
        address = inventory.management_address(management, number)
        ip("address", "add", f"{address}/{management.prefixlen}", "dev", "mgmt0", netns=home)
        # Answer for an address only on the interface that has it, and never pass a packet on.
        settings = {
            "net.ipv4.ip_forward": "0",
            "net.ipv4.conf.all.arp_ignore": "1",
            "net.ipv4.conf.all.rp_filter": "1",
        }
        for key, value in (settings | node.sysctls).items():
            machine.set_sysctl(home, key, value)
        for device in ("data0", "mgmt0"):
            ip("link", "set", device, "up", netns=home)
        ip("route", "add", "default", "via", switch.gateway, "dev", "data0", netns=home)
        self.say(f"node {node.name} ({switch.site}): {node.address} at {switch.name}, management {address}")

    def _make_namespace(self, name: str) -> str:
        home = self.place.namespace_of(name)
        ip("netns", "add", home)
        ip("link", "set", "lo", "up", netns=home)
        return home

    def make_link(self, link: Link) -> None:
        """Start a link's emulator and give each switch its end."""
        number = self.lab.links.index(link)
        devices = (f"{self.place.interface_prefix}{number}a", f"{self.place.interface_prefix}{number}b")
        log = self.place.folder / f"link-{number}.log"
        pid = emulator.start(self.emulator, link, devices, log=log, parent=self.parent)
        self.pids[link.name] = pid
        for device, end, address in zip(devices, link.ends, routes.addresses_of(link), strict=True):
            home = self.place.namespace_of(end.name)
            name = f"wan{number}"
            ip("link", "set", device, "netns", home)
            size = ("mtu", link.mtu, "txqueuelen", _DEVICE_QUEUE_PACKETS)
            ip("link", "set", device, "name", name, *size, "up", netns=home)
            ip("address", "add", f"{address}/{link.subnet.prefixlen}", "dev", name, netns=home)
        rate, rtt = format_quantity(link.capacity_bps, "rate"), format_quantity(link.rtt_s, "duration")
        kind = "Python" if len(self.emulator) > 1 else "C"
        self.say(f"link {link.name}: {rate}, RTT {rtt}, MTU {link.mtu}; emulated in {kind} by process {pid}")

    def set_routes(self) -> None:
        """Tell every switch the way to every subnet."""
        for switch in self.lab.switches:
            for route in routes.routes_from(switch, self.lab):
                ip("route", "replace", route.to, "via", route.via, netns=self.place.namespace_of(switch.name))


def choose_management(lab: Lab, start: int) -> IPv4Network:
    """Return the first /24 of the lab's management networks that overlaps nothing in use, counted from `start` on.

    Labs start at different places, so that two that are built at once do not choose the same.
    """
    used = machine.networks_in_use() + lab.data_subnets
    for pool in lab.management:
        subnets = list(pool.subnets(new_prefix=24))
        for step in range(len(subnets)):
            subnet = subnets[(start + step) % len(subnets)]
            if not any(subnet.overlaps(other) for other in used):
                return subnet
    pools = ", ".join(map(str, lab.management))
    raise LabError(f"No /24 of {pools} is free on this machine: name another network as management in {lab.path}.")


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
        builder = Builder(lab, place, emulator.choose(kind, place.folder, say), parent, say, check)
        try:
            state = builder.build() | {"emulator": list(builder.emulator), "emulator_kind": kind}
            place.write_state(state)
        except BaseException:
            clear(place, say)
            raise
        for note in buffer_notes(lab, Path("/proc/sys/net/core")):
            say(note)
        say(f"lab {lab.name} is up after {time.monotonic() - started:.1f} s: {place.state_file}")
        return state


def _stands(state: State, lab: Lab, kind: str) -> bool:
    there = {*machine.namespaces("fathom-"), *machine.interfaces("fm")}
    named = {state["management"]["bridge"], *(item["netns"] for item in state["switches"] + state["nodes"])}
    return state["digest"] == lab.digest and kind in ("auto", state["emulator_kind"]) and named <= there


def mend(lab: Lab, place: Place, state: State, *, parent: int, say: Say) -> State:
    """Build the links anew whose emulators have died; return the state as it is then. The place must be locked."""
    alive = emulator.carries(place.interface_prefix)
    dead = [link for link in state["links"] if link["kind"] == "emulated" and not alive(link["pid"])]
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
    """Remove everything that any lab of this place has or left: processes, interfaces, namespaces, the state.

    Things are found by their names, not by the state file, so that nothing of a killed lab is missed.
    """
    place.forget_state()
    homes = machine.namespaces(place.namespace_prefix)
    ended = machine.end_processes(emulator.carries(place.interface_prefix))
    ended += machine.end_processes(machine.processes_within(homes))
    devices = machine.interfaces(place.interface_prefix)
    for device in devices:
        ip("link", "delete", device)
    for home in homes:
        ip("netns", "delete", home)
    if homes or devices or ended:
        say(f"removed {len(homes)} namespaces, {len(devices)} interfaces and {ended} processes")


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


def _in(subnet: IPv4Network, number: int) -> IPv4Interface:
    return IPv4Interface(f"{subnet[number]}/{subnet.prefixlen}")
