"""Builds a lab step by step: switches, nodes, links, then file systems and Slurm."""

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

from lab import doors, emulator, inventory, machine, netem, rooms, routes
from lab.file_systems import assembly, throttle
from lab.file_systems.spec import Disk
from lab.machine import LabError, ip
from lab.quantities import format_quantity
from lab.rooms import Room
from lab.services import Service
from lab.slurm import make as slurm
from lab.spec import Lab, Link, Node, Switch
from lab.state import REMOTE, Place, State

Say = Callable[[str], None]
# A sender's bursts wait in the device until the emulator, which has the real queue, reads them.
_DEVICE_QUEUE_PACKETS = 10_000


@dataclass
class Builder:
    """Builds one lab at a place.

    `emulator` is the command of the links' emulator, or ("netem",); `parent` is the process that they die with, or 0;
    `check` may raise between two steps.
    """

    lab: Lab
    place: Place
    emulator: tuple[str, ...]
    parent: int
    say: Say
    check: Callable[[], None] = lambda: None
    pids: dict[str, int | None] = field(default_factory=dict)
    rooms: dict[str, Room] = field(default_factory=dict)
    services: list[Service] = field(default_factory=list)

    def build(self) -> State:
        """Build everything and return its state; LabError if the machine refuses something."""
        subnet = self._make_management()
        hosts = rooms.prepare(self.place, [f"{node.address} {node.name}" for node in self.lab.nodes])
        for switch in self.lab.switches:
            self._make_switch(switch)
            self.check()
        for number, node in enumerate(self.lab.nodes):
            self._make_node(number, node, subnet)
            self._make_room(node, hosts)
            self.check()
        for link in self.lab.links:
            self.make_link(link)
            self.check()
        self.set_routes()
        self._open_doors()
        assembly.make_all(self.lab, self.rooms, self.services, say=self.say, check=self.check)
        if self.lab.slurm:
            self._start_slurm()
        return inventory.describe(self.lab, self.place, subnet, self.pids, self.rooms, self.services)

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
        if self.emulator == netem.COMMAND:
            # A whole train of segments would be one packet to netem.
            ip("link", "set", "data0", "gso_max_segs", 1, netns=home)
        ip("route", "add", "default", "via", switch.gateway, "dev", "data0", netns=home)
        self.say(f"node {node.name} ({switch.site}): {node.address} at {switch.name}, management {address}")

    def _make_room(self, node: Node, hosts: Path) -> None:
        limited = any(isinstance(item, Disk) and item.is_limited for item in self.lab.file_systems)
        room = Room(self.place, node.name, throttle.to_join(self.place.group) if limited else None)
        room.make(hosts)
        self.rooms[node.name] = room

    def _open_doors(self) -> None:
        """Let commands of each node start others on all nodes, where an agent's list has the program for that."""
        if any(REMOTE in node.allowance.programs for node in self.lab.nodes):
            self.services += doors.make(
                self.place, self.rooms, {node.name: str(node.address) for node in self.lab.nodes}
            )

    def _start_slurm(self) -> None:
        cluster = self.lab.slurm
        assert cluster
        addresses = {node.name: str(node.address) for node in self.lab.nodes}
        self.services += slurm.start(cluster, self.rooms, addresses, self.place)
        names = ", ".join(node.name for node in cluster.nodes)
        self.say(f"slurm: partition {cluster.partition} of {names}; jobs are submitted on {cluster.login.name}")

    def _make_namespace(self, name: str) -> str:
        home = self.place.namespace_of(name)
        ip("netns", "add", home)
        ip("link", "set", "lo", "up", netns=home)
        return home

    def make_link(self, link: Link) -> None:
        """Start a link's emulator and give each switch its end."""
        number = self.lab.links.index(link)
        homes = tuple(self.place.namespace_of(end.name) for end in link.ends)
        device = f"wan{number}"
        if self.emulator == netem.COMMAND:
            netem.make(link, device, homes)
            self.pids[link.name], how = None, "by netem in the kernel"
        else:
            how = self._start_emulator(link, number, homes, device)
        for home, address in zip(homes, routes.addresses_of(link), strict=True):
            ip("link", "set", device, "mtu", link.mtu, "txqueuelen", _DEVICE_QUEUE_PACKETS, "up", netns=home)
            ip("address", "add", f"{address}/{link.subnet.prefixlen}", "dev", device, netns=home)
        rate, rtt = format_quantity(link.capacity_bps, "rate"), format_quantity(link.rtt_s, "duration")
        self.say(f"link {link.name}: {rate}, RTT {rtt}, MTU {link.mtu}; emulated {how}")

    def _start_emulator(self, link: Link, number: int, homes: tuple[str, ...], name: str) -> str:
        devices = (f"{self.place.interface_prefix}{number}a", f"{self.place.interface_prefix}{number}b")
        log = self.place.folder / f"link-{number}.log"
        pid = emulator.start(self.emulator, link, devices, log=log, parent=self.parent)
        self.pids[link.name] = pid
        for device, home in zip(devices, homes, strict=True):
            ip("link", "set", device, "netns", home)
            ip("link", "set", device, "name", name, netns=home)
        return f"in {'Python' if len(self.emulator) > 1 else 'C'} by process {pid}"

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


def _in(subnet: IPv4Network, number: int) -> IPv4Interface:
    return IPv4Interface(f"{subnet[number]}/{subnet.prefixlen}")
