"""The path's capacity by other means than TCP: packet dispersion, and the loss of UDP over its offered load."""

from dataclasses import dataclass

from apps.bench.network import loss_curve
from apps.bench.rules.base import Evidence, Point

# pathrate's modes lie too far apart to be one capacity above this coefficient of variation.
MOST_VARIATION = 0.3
# Tools that send packets of different sizes and fit a line say how well it fits.
LEAST_FIT = 0.8
# Tools that tell a capacity from the spacing or the delay of packets: "capacity" is theirs.
CAPACITY, AVAILABLE = "capacity", "available_bandwidth"


@dataclass(frozen=True)
class Dispersion:
    """A capacity (bit/s) by packet dispersion: its interval, the tools that told it, and the trials."""

    low: float
    high: float
    tools: str
    trials: tuple[int, ...]


@dataclass(frozen=True)
class ByUdp:
    """The highest offered load (bit/s) that arrived, with the whole curve and its trials."""

    value: float
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
    points = [point for point in dispersion_points(evidence) if not is_doubtful(point)]
    found = [value for point in points for value in ends_of(point, "capacity_low", CAPACITY, "capacity_high")]
    if not found:
        return None
    trials = {trial for point in points for values in point.metrics.values() for trial in values}
    tools = " + ".join(sorted({point.tool for point in points if point.tool})) or CAPACITY
    return Dispersion(min(found), max(found), tools, tuple(sorted(trials)))


def ends_of(point: Point, low: str, value: str, high: str) -> list[float]:
    """Return the values above zero of the metrics `low` and `high` of a rate, of `value` where one is not told."""
    ends = (point.values(low) or point.values(value), point.values(high) or point.values(value))
    return [rate for rates in ends for rate in rates if rate > 0]


def udp_points(evidence: Evidence) -> list[Point]:
    """Return the points of UDP loads whose loss was counted."""
    return [point for point in evidence.points if point.values("loss") and offered_of(point)]


def offered_of(point: Point) -> float | None:
    """Return what was offered (bit/s of payload): what the tool counted, else what arrived and what was lost of it.

    The rate asked for is not always reached.
    """
    offered, goodput, loss = (point.values(name) for name in ("offered_load", "goodput", "loss"))
    if offered:
        return sum(offered) / len(offered)
    lost = sum(loss) / len(loss) if loss else 1.0
    if goodput and lost < 1:
        return sum(goodput) / len(goodput) / (1 - lost)
    rate = point.parameters.get("rate")
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None


def loss_curve_of(evidence: Evidence) -> tuple[loss_curve.LossCurve | None, tuple[int, ...]]:
    """Return UDP's loss over the offered load, and its trials; points of one load are averaged."""
    loads: dict[float, list[float]] = {}
    trials: set[int] = set()
    for point in udp_points(evidence):
        losses = [value for value in point.values("loss") if 0 <= value <= 1]
        offered = offered_of(point)
        if losses and offered and offered > 0:
            loads.setdefault(float(f"{offered:.3g}"), []).extend(losses)
            trials |= set(point.trials("loss"))
    points = [loss_curve.Point(offered, sum(losses) / len(losses)) for offered, losses in loads.items()]
    return loss_curve.analyse(points), tuple(sorted(trials))


def by_udp(evidence: Evidence) -> ByUdp | None:
    """Return the highest load without loss (under 0.5 %), None unless a higher one lost more."""
    curve, trials = loss_curve_of(evidence)
    if curve is None or curve.capacity is None or curve.lossy is None or curve.lossy < curve.capacity:
        return None
    return ByUdp(curve.capacity, curve, trials)
