"""Whether a rate is more than the links between two nodes carry."""

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Reading, Tool

# Names of what was moved from one node to the other; offered loads and files' caches are no such thing.
MOVED = frozenset({"goodput", "goodput_reverse", "throughput", "bandwidth", "bandwidth_largest", "aggregate"})
# A short run counts what a queue held before it began.
SLACK = 1.1
_BITS = {"bit/s": 1, "B/s": 8}


def concerns(tool: Tool) -> bool:
    """Say whether a tool tells of what was moved between nodes."""
    return any(metric.name in MOVED for metric in tool.metrics)


def flags(reading: Reading, tool: Tool, capacity_bps: float | None) -> list[Flag]:
    """Return a doubt if a rate exceeds what the links carry, for which either the inventory or the way is wrong.

    `capacity_bps` (bit/s) is that of one direction, None unless just two nodes took part; benchmarks of messages
    may count both directions.
    """
    if not capacity_bps:
        return []
    limit = capacity_bps * SLACK * (1 if tool.transport else 2)
    scale = {metric.name: _BITS[metric.unit] for metric in tool.metrics if metric.name in MOVED}
    rates = [sample.value * scale[sample.metric] for sample in reading.samples if sample.metric in scale]
    if max(rates, default=0.0) <= limit:
        return []
    text = _(
        "%(rate)s is more than the %(capacity)s that the links between the nodes carry: it went another way, such as"
        " shared memory or a second network, or the inventory is wrong about the links."
    )
    values = {
        "rate": units.format_quantity(max(rates), "bit/s"),
        "capacity": units.format_quantity(capacity_bps, "bit/s"),
    }
    return [Flag("above-capacity", "warning", Message(text, values))]
