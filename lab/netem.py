"""A long line in the kernel: a pair of virtual interfaces with tc's netem at both, where the kernel has it."""

import math

from lab import machine
from lab.machine import LabError, do, ip
from lab.spec import Link
from lab.state import Place

# What stands for it where the links' emulator is named.
COMMAND = ("netem",)
# netem's limit counts packets, also those that are on the way; a quarter more for those that are not full.
_MARGIN = 1.25
# tc counts the 14 bytes of Ethernet's header itself.
_HEADER = 14


def is_there(place: Place) -> bool:
    """Say whether this kernel has netem, by setting it in a namespace made for the question."""
    probe = place.namespace_of("probe")
    try:
        ip("netns", "add", probe)
    except LabError:
        return False
    try:
        words = ["qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
        return machine.run(["tc", "-n", probe, *words]).returncode == 0
    except OSError:
        return False
    finally:
        machine.run(["ip", "netns", "delete", probe])


def make(link: Link, name: str, homes: tuple[str, ...]) -> None:
    """Make an interface of this name in two namespaces, each sending through netem; LabError if that is refused."""
    first, second = homes
    ip("link", "add", name, "netns", first, "type", "veth", "peer", "name", name, "netns", second)
    for home in homes:
        do("tc", "-n", home, "qdisc", "add", "dev", name, "root", *words_for(link))


def words_for(link: Link) -> list[str]:
    """Return the arguments after ``root`` that make an interface one end of the link.

    The delay is half of the link's RTT (its `delay` makes up for a process in user space, which this is not). The
    limit holds the queue and what is on the way: capacity x delay.
    """
    delay_s = link.rtt_s / 2
    packets = math.ceil(_MARGIN * (link.queue_bytes + link.capacity_bps * delay_s / 8) / link.mtu)
    words = ["netem", "delay", f"{delay_s * 1e6:.0f}us", "rate", f"{link.capacity_bps:.0f}bit"]
    words += [str(link.overhead_bytes - _HEADER)]
    if link.loss:
        words += ["loss", "random", f"{link.loss * 100:.9g}%"]
    return [*words, "limit", str(packets)]
