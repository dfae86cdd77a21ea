"""The path's capacity by other means than TCP: packet dispersion, and the loss of UDP over its offered load."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.network import loss_curve
from apps.bench.network.loads import Chance
from apps.bench.rules import pace
from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import counted
from apps.bench.rules.tcp.counted import USUAL_DATAGRAM
from apps.bench.rules.told import known_or_none

# pathrate's modes lie too far apart to be one capacity above this coefficient of variation.
MOST_VARIATION = 0.3
# Tools that send packets of different sizes and fit a line say how well it fits.
LEAST_FIT = 0.8
# Tools that tell a capacity from the spacing or the delay of packets: "capacity" is theirs.
CAPACITY, AVAILABLE = "capacity", "available_bandwidth"
# Loads below this share of the capacity fill nothing; datagrams enough to see so many lost, if they were by chance.
BELOW_CAPACITY, LEAST_LOST = 0.9, 10
# Less than this share of what TCP lost shows that it was not by chance; within a factor of the other that it was.
CLEAN, ALIKE = 0.2, 1 / 3
# A load that lost so much contradicts one of another experiment that came whole; loads so near each other are one.
MUCH_LOST, SAME_LOAD = 0.05, 1.01
# What was offered (bit/s), the share of it that was lost, and the point.
Loads = Sequence[tuple[float, float, Point]]


@dataclass(frozen=True)
class Dispersion:
    """A capacity (bit/s) by packet dispersion: its interval, the tools that told it, and the trials."""

    low: float
    high: float
    tools: str
    trials: tuple[int, ...]


@dataclass(frozen=True)
class ByUdp:
    """What one flow of datagrams can have: `low` and `high` (bit/s of payload) with the whole curve and its trials.

    The path holds `low` at least; no more than `high` came through, by the path or by a limit on each flow.
    """

    low: float
    high: float
    curve: loss_curve.LossCurve
    trials: tuple[int, ...]


def dispersion_points(evidence: Evidence) -> list[Point]:
    """Return the points of tools that tell the path's capacity by packets."""
    return [point for point in evidence.points if point.values(CAPACITY) or point.values("capacity_high")]


def is_doubtful(point: Point) -> bool:
    """Return whether a tool's own word speaks against its capacity: modes apart, or a line that does not fit.

    So it is where packets are delivered in batches: links in software, or interrupts that wait for several.
    """
    variation, fit = point.values("variation"), point.values("fit")
    return bool(variation and max(variation) > MOST_VARIATION) or bool(fit and min(fit) < LEAST_FIT)


def by_dispersion(evidence: Evidence) -> Dispersion | None:
    """Return the capacity by packet dispersion, as far as the tools trust themselves; None without any."""
    points = [point for point in dispersion_points(evidence) if not is_doubtful(point) and not pace.flags_of(point)]
    ends = [value for point in points for value in ends_of(point, "capacity_low", CAPACITY, "capacity_high")]
    if not ends:
        return None
    trials = {trial for point in points for values in point.metrics.values() for trial in values}
    tools = " + ".join(sorted({point.tool for point in points if point.tool})) or CAPACITY
    return Dispersion(min(ends), max(ends), tools, tuple(sorted(trials)))


def ends_of(point: Point, low: str, value: str, high: str) -> list[float]:
    """Return the values above zero of the metrics `low` and `high` of a rate, of `value` where one is not told."""
    ends = (point.values(low) or point.values(value), point.values(high) or point.values(value))
    return [rate for rates in ends for rate in rates if rate > 0]


@dataclass(frozen=True)
class Arrived:
    """The most that arrived (bit/s) of datagrams of one length (B, None where nobody told), in which loads.

    `window` is the buffer that was asked for (B), 0 for the system's own.
    """

    length: int | None
    rate: float
    points: tuple[Point, ...]
    window: float = 0

    @property
    def datagrams(self) -> float | None:
        """Return how many datagrams arrived a second, None where their length is not known."""
        return self.rate / 8 / self.length if self.length else None


def arrived_by_length(evidence: Evidence) -> list[Arrived]:
    """Return what arrived at most of UDP's loads, by the datagrams' length and the buffer asked for: most first.

    Loads of different lengths are no repetitions: an end may take so many datagrams a second, however long. Nor are
    those of experiments that contradict each other: what the path, or an end, had at one time it had not at another.
    """
    settings: dict[tuple[Any, Any], dict[int | None, list[tuple[float, float, Point]]]] = {}
    for point in evidence.points:
        load, losses = offered_of(point), point.values("loss")
        if load and losses:
            key = known_or_none(point.parameters, "length"), known_or_none(point.parameters, "window") or 0
            own = settings.setdefault(key, {}).setdefault(point.experiment, [])
            own.append((load, min(1.0, sum(losses) / len(losses)), point))
    groups: dict[tuple[Any, ...], list[tuple[float, Point]]] = {}
    for key, experiments in settings.items():
        is_apart = any(_contradict(*pair) for pair in itertools.permutations(experiments.values(), 2))
        for experiment, loads in experiments.items():
            place = (*key, experiment) if is_apart else key
            groups.setdefault(place, []).extend((load * (1 - loss), point) for load, loss, point in loads)
    groups_read = [
        Arrived(
            int(key[0]) if isinstance(key[0], int | float) and key[0] > 0 else None,
            max(rate for rate, _point in own),
            tuple(point for _rate, point in own),
            key[1],
        )
        for key, own in groups.items()
    ]
    return sorted(groups_read, key=lambda item: (-item.rate, -len(item.points), -(item.length or 0)))


def _contradict(lossy: Loads, whole: Loads) -> bool:
    """Return whether a load of one experiment lost much that another one, or a larger one, of the other did not."""
    free = [load for load, loss, point in whole if loss < loss_curve.THRESHOLD]
    return any(
        loss >= MUCH_LOST and load <= SAME_LOAD * max(free, default=0.0) and not pace.flags_of(point)
        for load, loss, point in lossy
    )


def of_other_times(evidence: Evidence) -> tuple[Arrived, ...]:
    """Return what arrived of as long datagrams as those of which most did in experiments that contradict these."""
    arrived = arrived_by_length(evidence)
    return tuple(item for item in arrived[1:] if (item.length, item.window) == (arrived[0].length, arrived[0].window))


def udp_points(evidence: Evidence) -> list[Point]:
    """Return the points of UDP loads whose loss was counted, of the datagrams of which most arrived."""
    arrived = arrived_by_length(evidence)
    return list(arrived[0].points) if arrived else []


def offered_of(point: Point) -> float | None:
    """Return what was offered (bit/s of payload): what the tool counted, else what arrived and what was lost of it.

    The rate asked for is not always reached.
    """
    loads, goodput, loss = (point.values(name) for name in ("offered_load", "goodput", "loss"))
    if loads:
        return sum(loads) / len(loads)
    loss_share = sum(loss) / len(loss) if loss else 1.0
    if goodput and loss_share < 1:
        return sum(goodput) / len(goodput) / (1 - loss_share)
    rate = point.parameters.get("rate")
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None


@read_once
def loss_curve_of(evidence: Evidence) -> tuple[loss_curve.LossCurve | None, tuple[int, ...]]:
    """Return UDP's loss over the offered load, and its trials; points of one load and length are averaged.

    None where nothing arrived of any load: what lets none through is no path that is full, and no chance.
    """
    loads: dict[float, list[tuple[float, bool]]] = {}
    trials: set[int] = set()
    for original in udp_points(evidence):
        point = pace.undisturbed(original)
        losses = [(value, bool(pace.flags_of(point))) for value in point.values("loss") if 0 <= value <= 1]
        load = offered_of(point)
        if losses and load and load > 0:
            loads.setdefault(float(f"{load:.3g}"), []).extend(losses)
            trials |= set(point.trials("loss"))
    points = [
        loss_curve.LoadPoint(
            load,
            sum(loss for loss, _is in losses) / len(losses),
            is_held=any(is_held for _loss, is_held in losses),
            losses=tuple(loss for loss, _is in losses),
        )
        for load, losses in loads.items()
    ]
    curve = loss_curve.analyse(points)
    return (curve, tuple(sorted(trials))) if curve is None or curve.arrived else (None, ())


def lost_by_datagrams(evidence: Evidence, capacity: float, share: float) -> tuple[float, tuple[int, ...]] | None:
    """Return the most that UDP lost below a capacity (bit/s), and its trials; None where it could not show a loss.

    `share` is the one to be seen: enough datagrams must have been sent to lose some of them by chance.
    """
    curve, trials = loss_curve_of(evidence)
    if curve is None:
        return None
    below = [point for point in curve.arrivals if point.offered <= BELOW_CAPACITY * capacity]
    durations = [float(point.parameters.get("duration") or 0) for point in udp_points(evidence)]
    datagrams = sum(point.offered for point in below) * sum(durations) / len(curve.points) / 8 / USUAL_DATAGRAM
    if not below or not share or share * datagrams < LEAST_LOST:
        return None
    return max(point.loss for point in below), trials


def chance_of(evidence: Evidence, capacity: float) -> tuple[Chance, counted.Counted, tuple[int, ...]] | None:
    """Return what is lost by chance on a path of a capacity (bit/s), what was counted of it, and the trials.

    None if it is nothing, or is not known: a limit on each flow drops what is above it, far below the capacity, and
    of few that were lost no share is known.
    """
    curve, trials = loss_curve_of(evidence)
    chance = curve.chance_below(capacity) if curve else None
    if chance is None:
        return None
    loads = [(point, load) for point in udp_points(evidence) if (load := offered_of(point))]
    own = counted.count(loads, chance.loads)
    return (chance, own, trials) if own and own.is_known else None


def by_udp(evidence: Evidence) -> ByUdp | None:
    """Return what one flow of datagrams can have, None unless a load above those that came whole lost more."""
    curve, trials = loss_curve_of(evidence)
    if curve is None or curve.lossy is None:
        return None
    if curve.plateau:
        return ByUdp(curve.whole or curve.plateau, max(curve.whole or 0.0, curve.plateau), curve, trials)
    if curve.whole is None or curve.lossy < curve.whole:
        return None
    # What arrived of a load that lost some came through as well.
    high = max(curve.whole, min(curve.full or curve.whole, curve.lossy), curve.arrived)
    return ByUdp(curve.whole, high, curve, trials)
