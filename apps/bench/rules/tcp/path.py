"""What the evidence says of the path: its round-trip time, its capacity, and what both make."""

from dataclasses import dataclass

from apps.bench import network
from apps.bench.rules.base import BELOW, Evidence
from apps.bench.rules.tcp import estimates
from apps.bench.rules.tcp.sweeps import tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# A rate of this share of a link's nominal goodput confirms the nominal capacity; above the other it refutes it.
CONFIRMED, REFUTED = 0.90, 1.05
# Without an MTU the larger frame's share is no safe guess: RFC 894's MTU is.
USUAL_MTU = 1500
# UDP that loses more than this was offered more than the path carries: what arrived is the capacity.
OVERLOADED = 0.005
# Points of this share of the best rate are one plateau if their windows differ by this factor.
PLATEAU, APART = 0.98, 1.5


@dataclass(frozen=True)
class Known:
    """A figure of the path, where it comes from, how much that is trusted (0 to 1), and its trials."""

    value: float
    source: Message
    trust: float
    trials: tuple[int, ...] = ()
    is_lower_bound: bool = False


@dataclass(frozen=True)
class PathReading:
    """Round-trip time (s), capacity (bit/s), the most goodput TCP can have of it, and the best measured (bit/s).

    `trials` are those that the figures rest on; where both are only given, those measured on the path.
    """

    rtt: Known
    capacity: Known
    ceiling_bps: float
    measured_bps: float
    trials: tuple[int, ...]

    @property
    def bdp_bytes(self) -> int:
        """Return the bandwidth-delay product in bytes (RFC 6349, section 3.3.1)."""
        return network.bdp_bytes(self.capacity.value, self.rtt.value) or 0

    @property
    def trust(self) -> float:
        """Return how far the two figures together are trusted."""
        return round(self.rtt.trust * self.capacity.trust, 2)

    @property
    def reachable_bps(self) -> tuple[float, float] | None:
        """Return the interval from the best rate measured to the ceiling; None if nothing came near the ceiling."""
        is_near = CONFIRMED * self.ceiling_bps <= self.measured_bps < self.ceiling_bps
        return (self.measured_bps, self.ceiling_bps) if is_near else None

    @property
    def bdp_formula(self) -> str:
        """Return the formula of the BDP with its numbers."""
        rate, rtt = format_quantity(self.capacity.value, "bit/s"), format_quantity(self.rtt.value, "s")
        return f"BDP = C · RTT / 8 = {rate} · {rtt} / 8 = {self.bdp_bytes:,} B"


def read_path(evidence: Evidence) -> PathReading | None:
    """Return what is known of the path; None if a figure is missing, contradicted, or nothing was measured."""
    rtt, capacity = read_rtt(evidence), read_capacity(evidence)
    if rtt is None or capacity is None:
        return None
    measured = {trial for point in evidence.points for values in point.metrics.values() for trial in values}
    trials = tuple(sorted({*rtt.trials, *capacity.trials} or measured))
    if not trials:
        return None
    ceiling = capacity.value
    if evidence.path.capacity_bps == capacity.value:
        ceiling *= network.tcp_efficiency(evidence.path.mtu or USUAL_MTU)
    reading = PathReading(rtt, capacity, ceiling, _best_rate(evidence)[0], trials)
    return reading if reading.bdp_bytes else None


def read_rtt(evidence: Evidence) -> Known | None:
    """Return the path's own RTT: the least measured (RFC 6349, section 3.2), else the one given with the links."""
    probes = _samples(evidence, "rtt_min")
    under_load = _samples(evidence, "min_rtt")
    if probes:
        least = min(probes.values())
        message = Message(_("RTT %(rtt)s: the least measured (n = %(n)s)."), _shown(least, len(probes)))
        return Known(least, message, 1.0, tuple(sorted(probes)))
    if evidence.path.rtt_s:
        message = Message(_("RTT %(rtt)s: as given with the links, not measured."), _shown(evidence.path.rtt_s, 0))
        return Known(evidence.path.rtt_s, message, 0.8)
    if under_load:
        trial = min(under_load, key=lambda item: under_load[item])
        message = Message(
            _("RTT %(rtt)s: the least that TCP saw under load, at most so much."), _shown(under_load[trial], 0)
        )
        return Known(under_load[trial], message, 0.6, (trial,))
    return None


def read_capacity(evidence: Evidence) -> Known | None:
    """Return the path's capacity: the links' if measurements come near it, else the best rate if it is a plateau.

    Else what packet dispersion tells, or the highest load of UDP that arrived, before what is only said of the
    links. None if nothing is known, or if a measured rate exceeds what the links are said to carry.
    """
    nominal = evidence.path.capacity_bps
    best, trials, is_plateau = _best_rate(evidence)
    if nominal and best > REFUTED * nominal:
        return None
    shown = _rates(best, nominal)
    if nominal and best >= CONFIRMED * nominal * network.tcp_efficiency(evidence.path.mtu or USUAL_MTU):
        text = _("Capacity %(nominal)s: the lowest link's, confirmed by a measured %(rate)s.")
        return Known(nominal, Message(text, shown), 0.95, trials)
    if is_plateau:
        text = _("Capacity %(rate)s: the best rate measured, at which more window or load gave no more.")
        if nominal:
            text = _("Capacity %(rate)s: the best rate measured, %(share)s %% of the links' %(nominal)s.")
        return Known(best, Message(text, shown), 0.85, trials)
    if (dispersed := estimates.by_dispersion(evidence)) and best <= REFUTED * dispersed.high:
        value = min(dispersed.high, nominal) if nominal else dispersed.high
        text = _("Capacity %(rate)s: the most that packet dispersion tells (%(tools)s).")
        shown = _rates(value, nominal) | {"tools": dispersed.tools}
        return Known(value, Message(text, shown), 0.8, dispersed.trials)
    curve = estimates.by_udp(evidence)
    if curve and curve.value >= CONFIRMED * best:
        text = _("Capacity %(rate)s: the highest load of UDP that arrived; more was lost.")
        return Known(curve.value, Message(text, _rates(curve.value, nominal)), 0.75, curve.trials)
    if nominal:
        text = _("Capacity %(nominal)s: the lowest link's; nothing measured has come near it.")
        return Known(nominal, Message(text, shown), 0.65)
    if best:
        text = _("Capacity %(rate)s: the best rate measured, so at least so much.")
        return Known(best, Message(text, shown), 0.5, trials, is_lower_bound=True)
    return None


def _rates(rate: float, nominal: float | None) -> dict[str, object]:
    return {
        "rate": format_quantity(rate, "bit/s"),
        "nominal": format_quantity(nominal, "bit/s") if nominal else "",
        "share": f"{100 * rate / nominal:.0f}" if nominal else "",
    }


def _best_rate(evidence: Evidence) -> tuple[float, tuple[int, ...], bool]:
    """Return the best mean goodput (bit/s) of TCP or UDP, its trials, and whether a plateau or overload shows it."""
    rates: list[tuple[float, tuple[int, ...]]] = []
    overloaded: list[float] = []
    for point in evidence.points:
        values = point.values("goodput")
        if values and point.statistic != BELOW:
            rates.append((sum(values) / len(values), point.trials("goodput")))
            losses = point.values("loss")
            if losses and min(losses) > OVERLOADED:
                overloaded.append(rates[-1][0])
    if not rates:
        return 0.0, (), False
    best, trials = max(rates)
    is_overloaded = max(overloaded, default=0.0) >= CONFIRMED * best
    return best, trials, is_overloaded or _is_plateau(evidence, best)


def _is_plateau(evidence: Evidence, best: float) -> bool:
    """Return whether clearly different amounts in flight gave the best rate alike.

    The windows observed count: windows that the kernel capped are different in the request only.
    """
    in_flight = []
    for point in tcp_points(evidence):
        rates, windows = point.values("goodput"), [size for size in point.values("window_observed") if size > 0]
        if sum(rates) / len(rates) >= PLATEAU * best and windows:
            in_flight.append(point.parameters.get("streams", 1) * sum(windows) / len(windows))
    return bool(in_flight) and max(in_flight) >= APART * min(in_flight)


def _samples(evidence: Evidence, metric: str) -> dict[int, float]:
    return {
        trial: value
        for point in evidence.points
        for trial, value in point.metrics.get(metric, {}).items()
        if value > 0
    }


def _shown(rtt_s: float, count: int) -> dict[str, object]:
    return {"rtt": format_quantity(rtt_s, "s"), "n": count}
