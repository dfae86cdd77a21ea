"""What the rules of storage share: whom they speak of, and how the tools call things."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.bench.lines import MOUNT_OPTIONS, MOUNT_SOURCE
from apps.bench.rules.base import Alternative, Proposal, Trend
from apps.bench.rules.tcp.verdict.case import rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# What is read and written in order; the rest of a tool's metrics are other patterns.
METRICS = ("write", "read")

# One task that has less than this share of what all have together is poorly served alone.
POOR = 0.5


class Words(NamedTuple):
    """A tool's parameters for the record size and for the processes on each client, its option, and what to keep."""

    record: str
    threads: str
    option: str
    fixed: tuple[str, ...]


TOOLS = {
    "iozone": Words("record_size", "threads", "-r ", ("file_size", "direct", "clients", "threads", "sync")),
    "fio": Words(
        "block_size", "jobs", "--bs=", ("file_size", "direct", "clients", "jobs", "pattern", "depth", "engine")
    ),
    "ior": Words(
        "transfer_size", "ranks", "-t ", ("block_size", "direct", "clients", "ranks", "api", "file_per_process")
    ),
}


def is_poor(alone: float, together: float, own: float | None, share: float = POOR) -> bool:
    """Return whether few are poorly served: both beside all together, and by what the network carries for so few.

    A client that has most of its own link is served as well as any file system can; where what that carries is not
    known (None), neither is this.
    """
    return own is not None and alone < share * min(together, own)


def is_in_order(trend: Trend) -> bool:
    """Return whether a trend is of access in order, as a tool that has others as well tells."""
    return not str(trend.fixed.get("pattern") or "").startswith("rand")


def are_shared(trend: Trend) -> bool:
    """Return whether all tasks wrote or read one file: where IOR is not told otherwise."""
    return trend.tool == "ior" and trend.fixed.get("file_per_process", False) is False


def name_of(trend: Trend) -> str:
    """Return whom a trend speaks of: the file system, else the tool."""
    return trend.file_system or str(trend.fixed.get("file_system") or trend.tool or "?")


def subject_of(trend: Trend, *more: str) -> str:
    """Return what tells findings of one rule apart."""
    testbed = str(trend.fixed.get("testbed", ""))
    return " ".join(word for word in (name_of(trend), trend.metric, *more, testbed) if word)[:200]


def rate(value: float) -> str:
    """Return a rate (B/s) for people."""
    return format_quantity(value, "B/s")


def mount_again(options: Mapping[str, Any], **changed: int) -> str:
    """Return the commands that mount an NFS file system anew, but for what is changed with what each client has.

    What that is the client's own kernel says when they are run: no agent's word for it is another's mount.
    """
    new_options = ",".join(f"{name}={value}" for name, value in changed.items())
    return "\n".join(
        (
            f"at={options.get('mount', 'MOUNTPOINT')}",
            MOUNT_SOURCE,
            MOUNT_OPTIONS,
            f'umount "$at" && mount -t nfs -o "$options,{new_options}" "$source" "$at"',
        )
    )


def lost_instead(bytes_per_s: float) -> Alternative:
    """Return loss as what may hold each connection (B/s of all), and the loads of UDP that would show it."""
    return Alternative(
        Message(_("Segments that are lost hold each connection, not what it has under way.")),
        Message(
            _("Count what iperf3 sends again over the same path, and measure UDP at half and at twice the rate.")
        ),
        Proposal("iperf3-udp", {}, {"rate": rates_around(8 * bytes_per_s)}),
    )
