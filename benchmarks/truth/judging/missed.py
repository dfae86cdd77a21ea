"""Conclusions that a careful engineer would draw of a world, and whether the product drew them."""

from collections.abc import Callable, Iterator, Sequence

from apps.bench.toolkit import Tool
from benchmarks.truth.statements import Statement
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell, Setup, World
from benchmarks.truth.worlds.credit import TRAIT
from benchmarks.truth.worlds.network import NetworkWorld
from benchmarks.truth.worlds.storage import StorageWorld

# Below this share of all other limits one is clearly the limit.
CLEAR = 0.7
# An engineer wants so many repetitions, and no more scatter (CV) than this.
LEAST, MOST_CV = 3, 0.1

# What names a window that something clamps.
CLAMPED = (tcp.WINDOW, "clamp")
# A path of a short queue is not filled by one flow.
FILLED = 0.93

Said = Callable[[Statement], bool]


def expected(world: World, statements: Sequence[Statement]) -> Iterator[tuple[str, bool]]:
    """Yield each conclusion that the evidence suffices for, and whether it was drawn."""
    if world.repetitions < LEAST or world.noise.cv > MOST_CV or set(world.traits) - {"cached", TRAIT}:
        return
    if isinstance(world, NetworkWorld):
        due = _of_network(world)
    elif isinstance(world, StorageWorld):
        due = _of_storage(world)
    else:
        return
    for name, is_said in due:
        yield name, any(is_said(item) for item in statements)


def _setup(world: World, tool: str, factor: str = "") -> Setup | None:
    return next((item for item in _own(world) if item.tool == tool and factor in ("", *item.factors)), None)


def _own(world: World) -> list[Setup]:
    """Return what was measured in the world's own campaign, the way that it asks about."""
    return [item for item in world.setups if not item.days and Tool.backwards_at[0] not in item.factors]


def _automatic(world: NetworkWorld) -> Cell | None:
    """Return the cell of one stream with the automatic window and the hosts' own control."""
    return next(
        (
            cell
            for setup in _own(world)
            if setup.tool == "iperf3-tcp"
            for cell in setup.cells
            if not cell.parameters.get("window")
            and cell.parameters.get("streams", 1) == 1
            and not cell.parameters.get("congestion")
        ),
        None,
    )


def _of_network(world: NetworkWorld) -> Iterator[tuple[str, Said]]:
    cell = _automatic(world)
    knows_rtt = _setup(world, "ping") is not None
    knows_capacity = any(link.capacity_bps for link in world.links) and world.way.aggregate_bps == float("inf")
    if cell and knows_rtt and knows_capacity:
        reached = world.reach(cell.parameters)
        others = [rate for name, rate in reached.terms.items() if name != reached.limit]
        is_observed = "tcp" in cell.trials[0].observed
        if reached.terms[reached.limit] < CLEAR * min(others):
            if reached.limit == tcp.WINDOW and reached.window == world.server.clamp:
                if is_observed and _tells_limits(world):
                    # One stream does not tell it from a program that reads slowly.
                    yield "a window is clamped", _limit(tcp.READER, *CLAMPED)
            elif reached.limit == tcp.WINDOW and (is_observed or not reached.at_sender):
                yield "the window is the limit", _limit(tcp.WINDOW, "tcp-window-knee", "tcp-sysctl")
            elif reached.limit == tcp.PATH and reached.rate >= FILLED * world.capacity_bps * tcp.efficiency(
                reached.mss + 52
            ):
                yield "the path is filled", _limit(tcp.PATH)
            elif reached.limit == tcp.READER and is_observed and _tells_limits(world):
                yield "the receiving program is the limit", _limit(tcp.READER)
            elif reached.limit == tcp.LOSS and is_observed:
                yield "loss is the limit", _limit(tcp.LOSS, "tcp-congestion")
            elif reached.limit == tcp.PROCESSOR:
                yield "a processor is the limit", _limit(tcp.PROCESSOR)
    streams = _setup(world, "iperf3-tcp", "streams")
    if streams and knows_rtt and knows_capacity and len(streams.cells) >= 3:
        rates = [item.truth["goodput"] for item in streams.cells]
        if rates[0] < 0.3 * rates[-1] and rates[-2] > 0.98 * rates[-1]:
            yield "several streams help up to a number", lambda item: item.rule == "tcp-streams"
        counts = [item.parameters["streams"] for item in streams.cells]
        if counts[-1] >= 4 and rates[-1] > 0.9 * counts[-1] * rates[0]:
            yield "each flow is limited by itself", _limit(tcp.WINDOW, "tcp-per-flow-limit", *CLAMPED)
    windows = _setup(world, "iperf3-tcp", "window")
    if windows:
        own = {item.parameters["window"]: item for item in windows.cells if item.parameters["window"]}
        rates = [own[size].truth["goodput"] for size in sorted(own)]
        free = not any(name == "window-capped" for item in own.values() for name, *_rest in item.trials[0].flags)
        if free and rates[0] < 0.5 * rates[-1] and rates[-3] > 0.99 * rates[-1]:
            yield "the rate grows up to a window", lambda item: item.rule == "tcp-window-knee"
    if world.way.is_black_hole and world.client.value(tcp.PROBING) and cell and "tcp" in cell.trials[0].observed:
        yield "large packets vanish", lambda item: item.subject == "black-hole"
    loads = _setup(world, "iperf3-udp")
    if loads and world.drain_bps > world.capacity_bps and not world.way.loss:
        lost = [item.truth["loss"] for item in loads.cells]
        if lost[0] < 1e-4 and lost[-1] > 0.05 and not loads.cells[-1].trials[0].flags:
            yield "what the path holds", lambda item: item.rule == "path-capacity"


def _tells_limits(world: NetworkWorld) -> bool:
    """Return whether the receiver's agent told all that bounds its window."""
    return any(
        node.facts and tcp.TUNING in node.facts["sysctls"] for node in world.nodes if node.name == world.server.name
    )


def _limit(subject: str, *others: str) -> Said:
    """Return who tells this limit: `tcp-limit`, or other rules or subjects of that."""
    return lambda item: (item.subject if item.rule == "tcp-limit" else item.rule) in (subject, *others)


def _of_storage(world: StorageWorld) -> Iterator[tuple[str, Said]]:
    clients = _setup(world, "iozone", "clients")
    if clients and len(clients.cells) >= 3:
        yield "how the aggregate goes with clients", lambda item: item.rule == "storage-clients"
    records = _setup(world, "iozone", "record_size")
    if records and len(records.cells) >= 3:
        yield "what records do", lambda item: item.rule == "storage-record-size"
    if "cached" in world.traits:
        yield "a cache was measured", lambda item: item.rule == "storage-cached-reads"
