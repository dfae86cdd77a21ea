"""The best rate on a path, and whether something else than the path is known to have held it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from apps.bench import network, statistics
from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import growth
from apps.bench.rules.tcp.loss_law import EXPLAINS, read_loss_law
from apps.bench.rules.tcp.present import WAITED, Present, read_all
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.tcp.sweeps import MOST_FALL, Cell, find_sweeps, is_tcp, tcp_points

# Without an MTU the larger frame's share is no safe guess: RFC 894's MTU is.
USUAL_MTU = 1500
# What IPv4, TCP and its timestamps take of a packet.
HEADERS = network.transport.IPV4_BYTES + network.transport.TCP_BYTES + network.transport.TIMESTAMP_BYTES
# More streams give no more if their rates lie within this share of each other, and are this many times as many.
LEVEL, MORE = 0.04, 1.5
# Without repetitions so many counts must agree.
LEAST_COUNTS = 3
# Repetitions that scatter by more (stdev / mean) are not those of a line that is full.
STEADY = 0.05
# The rate agrees with the law of the window if it is this share of the window over the idle RTT.
LAW = (0.80, 1.10)
# So near in every run where segments were lost, too: of what loss sets no run comes so near a window by chance.
EACH = (0.90, 1.05)
# Over an RTT that is longer than the least by this factor a queue stands.
QUEUED = 1.15
# The windows left room if they would have allowed so many times the rate.
ROOM = 1.5
# Of fewer segments sent again no share is known.
LEAST_AGAIN = 5
# The largest segment of usual frames; larger ones may have been made smaller on the way.
USUAL_SEGMENT = 1460


@dataclass(frozen=True)
class Best:
    """The best mean rate (bit/s of payload), its trials, and its point (None without any)."""

    rate: float
    trials: tuple[int, ...]
    point: Point | None = None


@dataclass(frozen=True)
class Plateau:
    """What more and more streams have together (bit/s of payload), from the count `streams` on, and its trials."""

    rate: float
    streams: int
    trials: tuple[int, ...]


@read_once
def best_of(evidence: Evidence) -> Best:
    """Return the best mean goodput of TCP or UDP: the path carries so much, whoever sets the pace."""
    candidates = [
        Best(mean(values), point.trials("goodput"), point)
        for original in evidence.points
        if original.values("goodput") and original.statistic != BELOW
        for point in [pace.undisturbed(original)]
        if (values := point.values("goodput"))
    ]
    return max(candidates, key=lambda item: item.rate, default=Best(0.0, ()))


def frame_of(evidence: Evidence) -> int:
    """Return the size (B) of the packets that TCP sent, else what the links allow, else that of Ethernet."""
    sizes = [item.last_mss for item in read_all(evidence) if item.last_mss]
    if sizes:
        return max(network.transport.LEAST_MTU, round(max(sizes)) + HEADERS)
    return evidence.path.mtu or USUAL_MTU


@read_once
def plateau_of(evidence: Evidence) -> Plateau | None:
    """Return the rate that streams level off at: they share its limit, for fewer had as much with fewer windows.

    None where a judge saw a processor or another end at its limit, where nothing was repeated and few agree, where
    more came through, as what many streams fall to is not what the path holds, or where no stream met a queue.
    """
    best_rate = best_of(evidence).rate
    free = [point for point in tcp_points(evidence) if not pace.flags_of(point)]
    flagged = [point for point in tcp_points(evidence) if pace.flags_of(point)]
    for sweep in find_sweeps(free, growth.FACTOR):
        level = _level(sweep.cells)
        if level and not any(_is_of(point, sweep.fixed, level) for point in flagged):
            rates = [rate for cell in level for rate in cell.rates]
            if best_rate > (1 + MOST_FALL) * mean(rates):
                continue
            trials = tuple(sorted(trial for cell in level for trial in cell.trials))
            if _meet_no_queue(evidence, trials):
                continue
            return Plateau(mean(rates), int(level[0].value), trials)
    return None


def _meet_no_queue(evidence: Evidence, trials: Collection[int]) -> bool:
    """Return whether streams of these trials waited for their receiver, or for nothing, and lost nothing, on the way.

    Streams that share a full link wait in its queue, or lose of what they send; those of a program that reads slowly
    wait for its window.
    """
    items = [item for item in read_all(evidence) if not {*trials}.isdisjoint(item.trials)]
    return any(item.waits_for_receiver for item in items) or all(map(_is_idle, items))


def _is_idle(present: Present) -> bool:
    """Return whether it was measured that nothing was sent again, and that no packet waited longer than the least."""
    min_rtt, loaded = present.mean("min_rtt"), present.mean("mean_rtt")
    is_counted = bool(present.point.values("retransmits")) or "retransmits" in present.kernel
    return is_counted and not is_lossy(present) and bool(min_rtt and loaded and loaded <= QUEUED * min_rtt)


def are_ends_watched(evidence: Evidence, trials: Collection[int]) -> bool:
    """Return whether somebody watched the processors of both ends in some of these trials."""
    return all(
        any(not {*trials}.isdisjoint(point.metrics.get(name, ())) for point in evidence.points)
        for name in pace.PROCESSORS
    )


def is_held(evidence: Evidence, best: Best, rtt_s: float | None) -> bool:
    """Return whether the best rate is known to be that of something else than the path.

    A judge's flag of an end, a window (by the kernel's word, or by what was seen of it over the idle RTT), loss that
    leaves about so much, or streams that multiply up to it.
    """
    if best.point is None or pace.flags_of(best.point):
        return best.point is not None
    if not is_tcp(best.point):
        return False
    present = next((item for item in read_all(evidence) if item.trials == best.trials), None)
    if present is None:
        return False
    grown = growth.read_growth(evidence)
    multiplies = grown is not None and grown.multiplies and not grown.levels_off
    is_last = grown is not None and bool({*best.trials} & {*grown.trials})
    return (multiplies and is_last) or is_window(present, rtt_s) or by_loss(present, rtt_s) is not None


def is_window(present: Present, rtt_s: float | None) -> bool:
    """Return whether the window sets a rate: by the kernel's word, else by the window seen over the idle RTT."""
    waited = present.waited
    if waited is not None:
        return waited >= WAITED
    return by_law(present, rtt_s)


def by_law(present: Present, rtt_s: float | None) -> bool:
    """Return whether the window seen, over the idle RTT, is about the rate, and no loss explains that as well."""
    if not is_lossy(present):
        return fits_window(present, rtt_s)
    law = read_loss_law(present, rtt_s)
    return law is not None and law.word != EXPLAINS and fits_window(present, rtt_s)


def fits_window(present: Present, rtt_s: float | None) -> bool:
    """Return whether the window in use, over the idle RTT, is about the rate; where segments were lost in every run.

    Over a longer RTT than the idle one a queue stands: there the window fills the queue, and does not limit.
    """
    allowed = network.window_limited_bps(present.window_used, rtt_s, present.streams)
    min_rtt, loaded = present.mean("min_rtt"), present.mean("mean_rtt")
    if not allowed or (min_rtt and loaded and loaded > QUEUED * min_rtt):
        return False
    if not is_lossy(present):
        return LAW[0] <= present.rate / allowed <= LAW[1]
    return all(EACH[0] <= rate / allowed <= EACH[1] for rate in present.point.values("goodput"))


def is_lossy(present: Present) -> bool:
    """Return whether segments were sent again."""
    return bool(present.mean("retransmits") or present.kernel.get("retransmits"))


def has_room(present: Present, rtt_s: float | None) -> bool:
    """Return whether the window was seen to leave room for more: by its size, or by the kernel's word."""
    allowed, own = present.allowed(rtt_s or 0.0), present.kernel.get("congestion_window_limited")
    return bool(allowed and allowed >= ROOM * present.rate) or (isinstance(own, float) and own >= WAITED)


def by_loss(present: Present, rtt_s: float | None) -> float | None:
    """Return the rate (bit/s) that the loss leaves by the law of the control, None unless it is about the rate.

    Enough of them must have been sent again to tell their share, and the window must leave room for more. Where a
    queue stands TCP itself sends too much, and loses of that: chance keeps it from filling any.
    """
    if present.has_queue:
        return None
    kernel, law = present.kernel, read_loss_law(present, rtt_s)
    again = sum(present.point.values("retransmits")) or kernel.get("retransmits") or 0
    is_sized = bool(kernel.get("mss")) or (present.mss or USUAL_SEGMENT) <= USUAL_SEGMENT
    if law is None or again < LEAST_AGAIN or not is_sized:
        return None
    return law.rate if has_room(present, rtt_s) and law.word == EXPLAINS else None


def _level(cells: Sequence[Cell]) -> list[Cell]:
    """Return the last cells of a sweep of streams that are level, of counts far enough apart; [] if they are not."""
    level: list[Cell] = []
    for cell in reversed(cells):
        rates = [item.rate.mean for item in (*level, cell)]
        if min(rates) < (1 - LEVEL) * max(rates):
            break
        level.insert(0, cell)
    if len(level) < 2 or level[-1].value < MORE * level[0].value:
        return []
    is_repeated = all(len(cell.rates) > 1 for cell in level)
    if not is_repeated:
        return level if len(level) >= LEAST_COUNTS else []
    steady = all((cell.rate.cv or 0.0) <= STEADY for cell in level)
    return level if steady and not statistics.still_rises([cell.rates for cell in level]) else []


def _is_of(point: Point, fixed: object, level: Sequence[Cell]) -> bool:
    """Return whether a point is of the same sweep, of a count at the level or beyond it."""
    parameters = {name: value for name, value in point.parameters.items() if name != growth.FACTOR}
    return parameters == fixed and (point.parameters.get(growth.FACTOR) or 1) >= level[0].value
