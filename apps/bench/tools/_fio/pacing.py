"""Limits that fio's jobs were given: rates, operations a second, and pauses between them."""

from collections.abc import Iterator, Mapping

from apps.bench.outputs import pacing
from apps.bench.toolkit import Flag, Output
from apps.bench.tools._fio.argv import read_command
from apps.bench.tools._fio.figures import FioWay
from apps.bench.tools._fio.sizes import whole

WAYS = ("read", "write")
# With these no rate can be told at which the jobs hold themselves back.
_PAUSES = ("thinktime", "latency_target")
OPTIONS = ("rate", "rate_iops", *_PAUSES)


def flags_of(output: Output, options: Mapping[str, str], ways: Mapping[str, FioWay]) -> Iterator[Flag]:
    """Yield the doubts in what each way moved; `options` are those that the report tells of its jobs."""
    limits = {**options, **_limits_of(output)}
    if paused := [name for name in _PAUSES if limits.get(name, "0").strip("0") not in ("", "s", "us", "ms")]:
        yield from pacing.paused_flags(f"--{paused[0]}", ("rate", *WAYS))
        return
    jobs = whole(limits.get("numjobs")) or 1
    for place, name in enumerate(WAYS):
        limit, operations = (_of_way(limits.get(option, ""), place) for option in ("rate", "rate_iops"))
        metrics = ("rate", name, f"{name}_iops")
        if doubts := pacing.held_flags(ways[name].rate, jobs * limit, "B/s", metrics):
            yield from doubts
        else:
            yield from pacing.held_flags(ways[name].iops, jobs * operations, "op/s", metrics)


def _of_way(text: str, place: int) -> int:
    """Return the limit of a way: one for all ways, or one each ("10m,5m,": reads, writes, trims); 0 for none."""
    parts = text.split(",")
    part = parts[place] if place < len(parts) else parts[0] if len(parts) == 1 else ""
    return whole(part) or 0


def _limits_of(output: Output) -> dict[str, str]:
    """Return the limits of the command line; what one of the jobs was limited by limits what they have together."""
    command = read_command(output.argv)
    return {
        name: value for name, value in {**command.union, **command.shared}.items() if name in (*OPTIONS, "numjobs")
    }
