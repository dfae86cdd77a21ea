"""What the evidence says of the path: its round-trip time, its capacity, and what both make."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.bench import network
from apps.bench.rules import pace
from apps.bench.rules.base import Evidence
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import elsewhere, estimates, held, lines
from apps.bench.rules.tcp.present import read_all
from apps.bench.rules.tcp.round_trip import Known, read_rtt
from apps.bench.rules.tcp.sweeps import how_of, levels_of, tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

# A rate of this share of a link's nominal goodput confirms the nominal capacity; above the other it refutes it.
CONFIRMED, REFUTED = 0.90, 1.05
# A rate of this share of what the links carry fills them, whatever else was at its limit; one beyond the inverse
# of it contradicts them.
SURELY_FULL = 0.99
# Two measurements of one path's capacity within this share of each other tell one figure.
ONE_PATH = 0.10
# So sure a capacity is that was measured, but at a time of which another experiment surely had other rates.
PAST = 0.7
# A measured capacity below this share of the links' contradicts them.
BELOW_LINKS = 0.85


@dataclass(frozen=True)
class PathReading:
    """Round-trip time (s), capacity (bit/s), the most goodput TCP can have of it, and the best measured (bit/s).

    `trials` are those that the figures rest on; where both are only given, those measured on the path. `stated_bps`
    is the most goodput that TCP can have of the links as they are said to be, at the line `nominal_bps`.
    """

    rtt: Known
    capacity: Known
    ceiling_bps: float
    measured_bps: float
    trials: tuple[int, ...]
    stated_bps: float | None = None
    nominal_bps: float | None = None

    @property
    def bdp_bytes(self) -> int:
        """Return the bandwidth-delay product in bytes (RFC 6349, section 3.3.1)."""
        return network.bdp_bytes(self.capacity.value, self.rtt.value) or 0

    @property
    def most_bytes(self) -> int:
        """Return the bandwidth-delay product (B) by the longest RTT that it may be."""
        return network.bdp_bytes(self.capacity.value, self.rtt.longest) or 0

    @property
    def most_bps(self) -> float:
        """Return the capacity (bit/s), of one that is only bounded from below what the links are said to have."""
        return (
            max(self.capacity.value, self.nominal_bps or 0.0) if self.capacity.is_lower_bound else self.capacity.value
        )

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


@read_once
def read_path(evidence: Evidence) -> PathReading | None:
    """Return what is known of the path; None if a figure is missing, contradicted, or nothing was measured."""
    rtt, capacity = read_rtt(evidence), shared_capacity(evidence)
    if rtt is None or capacity is None:
        return None
    all_trials = {trial for point in evidence.points for values in point.metrics.values() for trial in values}
    trials = tuple(sorted({*rtt.trials, *capacity.trials} or all_trials))
    if not trials:
        return None
    share = network.tcp_efficiency(_frame_of(evidence))
    ceiling = capacity.value * (1 if capacity.is_lower_bound else share)
    nominal = evidence.path.capacity_bps
    reading = PathReading(
        rtt, capacity, ceiling, held.best_of(evidence).rate, trials, nominal * share if nominal else None, nominal
    )
    return reading if reading.bdp_bytes else None


def is_told_beside(evidence: Evidence) -> bool:
    """Return whether the path's windows were measured otherwise: then they are told of there, and only there."""
    return evidence.elder > 0 and not tcp_points(evidence)


def shared_capacity(evidence: Evidence) -> Known | None:
    """Return the path's capacity: one figure of one path, whichever of its ends' measurements is asked.

    What was measured in other roles is told where this evidence tells none of its own, or nearly the same; where it
    tells another the two differ, and each has its own. What data had the other way tells nothing of this one unless
    nearly the same was measured in this one, too.
    """
    own = _not_contradicted(evidence, read_capacity(evidence))
    if own is None and held.best_of(evidence).rate:
        # More came through than the links are said to carry.
        return None
    is_open = own is None or own.is_open
    for place, other in enumerate(evidence.beside):
        capacity = read_capacity(other)
        if capacity is None or capacity.is_open:
            continue
        is_other = own is not None and held.best_of(evidence).rate > REFUTED * capacity.value
        is_near = own is not None and abs(own.value / capacity.value - 1) <= ONE_PATH and place < evidence.elder
        is_same_way = other.way == evidence.way
        # What is only said of the links was measured in neither: nothing of the other way confirms it.
        is_alike = is_near and own is not None and (is_same_way or not own.is_stated)
        if (is_open and not is_other and is_same_way) or is_alike:
            return capacity
    return own


def _not_contradicted(evidence: Evidence, own: Known | None) -> Known | None:
    """Return a capacity; of one that is only said of the links what came through, where they gave other figures.

    What links have one way the other may have, too, or not: without a figure of its own nothing is known of it.
    """
    if own is None or not own.is_stated:
        return own
    rates = [rate for other in evidence.beside if (rate := _instead(other, own.value))]
    if not rates:
        return own
    best = held.best_of(evidence)
    if not best.rate:
        return None
    text = _("Capacity of at least %(rate)s, as measured; the other way the links' %(nominal)s were %(other)s.")
    params = _rates(best.rate, own.value, best) | {"other": format_quantity(rates[0], "bit/s")}
    return Known(best.rate, Message(text, params), 0.5, best.trials, is_lower_bound=True)


def _instead(evidence: Evidence, nominal: float) -> float | None:
    """Return what (bit/s) came through links that are said to carry `nominal`, if surely less or more than that."""
    capacity = read_capacity(evidence)
    if capacity is not None:
        return capacity.value if not capacity.is_open and capacity.value < BELOW_LINKS * nominal else None
    dispersed = estimates.by_dispersion(evidence)
    max_rate = max(held.best_of(evidence).rate, dispersed.low if dispersed else 0.0)
    return max_rate if max_rate > nominal else None


def _frame_of(evidence: Evidence) -> int:
    """Return the size (B) of TCP's packets, of the first measurement on the path that tells."""
    elders = (*evidence.beside[: evidence.elder], evidence, *evidence.beside[evidence.elder :])
    sources = [item for item in elders if any(present.last_mss for present in read_all(item))]
    return held.frame_of(sources[0] if sources else evidence)


@read_once
def read_capacity(evidence: Evidence) -> Known | None:
    """Return the path's capacity, as far as it is known that nothing else than the path is measured.

    The links' if measurements come near it; else what several streams level off at, what packet dispersion tells, or
    what UDP's loads level off at where another figure bears that out. Of links that nothing came near only where
    something else is known to have held the best rate. What else was reached is a lower bound. None if nothing is
    known, or if more came through, or packets tell of more, than the links are said to carry.
    """
    nominal, best = evidence.path.capacity_bps, held.best_of(evidence)
    dispersed = estimates.by_dispersion(evidence)
    is_more = dispersed is not None and nominal is not None and BELOW_LINKS * dispersed.low > nominal
    is_refuted = nominal is not None and elsewhere.refutes(evidence, nominal, REFUTED) is not None
    if nominal and (best.rate > REFUTED * nominal or is_more or is_refuted):
        return None
    params = _rates(best.rate, nominal, best)
    is_near = bool(nominal) and best.rate >= CONFIRMED * (nominal or 0.0) * network.tcp_efficiency(
        held.frame_of(evidence)
    )
    # What its ends held near the links' capacity came there by chance; not what is all that the links carry.
    line = best.rate / network.tcp_efficiency(held.frame_of(evidence))
    is_held = best.point is not None and bool(pace.flags_of(best.point)) and not fills_surely(line, nominal)
    if nominal and is_held and line > nominal / SURELY_FULL:
        return None
    if nominal and is_near and not is_held:
        if not levels_of(evidence).left_out.isdisjoint(best.trials):
            text = _(
                "Capacity %(nominal)s: the lowest link's, confirmed by %(rate)s in an experiment that a later one"
                " contradicts."
            )
            return Known(nominal, Message(text, params), PAST, best.trials)
        text = _("Capacity %(nominal)s: the lowest link's, confirmed by a measured %(rate)s.")
        return Known(nominal, Message(text, params), 0.95, best.trials)
    moved, transfers = elsewhere.best_transfer(evidence)
    if nominal and not is_near and _is_near(evidence, moved, nominal):
        text = _("Capacity %(nominal)s: the lowest link's, confirmed by transfers of files at %(rate)s.")
        return Known(nominal, Message(text, _rates(moved, nominal)), 0.9, transfers)
    reading = _by_plateau(evidence, nominal) or _by_dispersion(evidence, nominal)
    if reading:
        return reading
    if nominal and (not best.rate or _is_untested(evidence, best)):
        return _as_described(evidence, nominal, params, is_near=is_near)
    if moved > best.rate:
        best, params = held.Best(moved, transfers), _rates(moved, nominal)
    passed = elsewhere.refutes(evidence, best.rate, 1.0)
    if best.rate and passed is not None:
        return Known(passed.rate_bps, passed.message, 0.5, best.trials, is_lower_bound=True, campaign=passed.campaign)
    if best.rate:
        text = _("Capacity of at least %(rate)s: the highest rate measured.")
        if nominal:
            text = _("Capacity of at least %(rate)s, as measured; nothing yet confirms the links' %(nominal)s.")
        return Known(best.rate, Message(text, params), 0.5, best.trials, is_lower_bound=True)
    return None


def _is_near(evidence: Evidence, rate: float, nominal: float) -> bool:
    """Return whether a rate (bit/s of payload) is about what links of a capacity let through, and no more."""
    return CONFIRMED * nominal * network.tcp_efficiency(held.frame_of(evidence)) <= rate <= nominal


def _as_described(evidence: Evidence, nominal: float, params: Mapping[str, object], *, is_near: bool) -> Known:
    """Return the links' capacity, which nothing that was measured here confirms, with what came near it."""
    passed = evidence.elsewhere
    if is_near:
        text = _("Capacity %(nominal)s: the lowest link's; the best rate measured was held by its ends.")
    elif passed is not None and _is_near(evidence, passed.rate_bps, nominal):
        text = _("Capacity %(nominal)s: the lowest link's; in the campaign %(campaign)s %(rate)s came through.")
        params = {**_rates(passed.rate_bps, nominal), "campaign": passed.campaign}
    else:
        text = _("Capacity %(nominal)s: the lowest link's; nothing measured has come near it.")
    return Known(nominal, Message(text, params), 0.8, is_stated=True)


def fills_surely(rate: float, carried: float | None) -> bool:
    """Return whether a rate is all that links are said to carry, and no more: no end comes there by chance."""
    return carried is not None and SURELY_FULL * carried <= rate <= carried / SURELY_FULL


def _by_plateau(evidence: Evidence, nominal: float | None) -> Known | None:
    """Return what several streams level off at, each of which would carry more: only what they share holds them."""
    plateau = held.plateau_of(evidence)
    if plateau is None:
        return None
    text = _("Capacity %(rate)s: more streams give no more, and nothing at the ends was seen to hold them.")
    if nominal:
        text = _("Capacity %(rate)s: more streams give no more; %(share)s %% of the links' %(nominal)s.")
    line = plateau.rate / network.tcp_efficiency(held.frame_of(evidence))
    if nominal and line < BELOW_LINKS * nominal and not held.are_ends_watched(evidence, plateau.trials):
        # The links are said to have more, and a processor that nobody watched levels off as well.
        return None
    if elsewhere.refutes(evidence, line, REFUTED) or elsewhere.best_transfer(evidence)[0] > REFUTED * line:
        return None
    return Known(line, Message(text, _rates(line, nominal)), 0.9, plateau.trials)


def _by_dispersion(evidence: Evidence, nominal: float | None) -> Known | None:
    """Return what packet dispersion tells, unless more came through."""
    dispersed = estimates.by_dispersion(evidence)
    if dispersed is None or lines.is_dispersion_misled(evidence):
        return None
    value = min(dispersed.high, nominal) if nominal else dispersed.high
    text = _("Capacity %(rate)s: the upper estimate of packet dispersion (%(tools)s).")
    params = _rates(value, nominal) | {"tools": dispersed.tools}
    return Known(value, Message(text, params), 0.85, dispersed.trials)


def _is_untested(evidence: Evidence, best: held.Best) -> bool:
    """Return whether the best rate says nothing of the path: something else is known to have held it."""
    full = estimates.by_udp(evidence)
    if full is not None and best.rate <= REFUTED * full.high:
        # A flow of datagrams was held at less than the links are said to have: by the path, or by a limit on it.
        return False
    rtt = read_rtt(evidence)
    return held.is_held(evidence, best, rtt.value if rtt else None)


def _rates(rate: float, nominal: float | None, best: held.Best | None = None) -> dict[str, object]:
    return {
        "rate": format_quantity(rate, "bit/s") + how_of(best.point if best else None),
        "nominal": format_quantity(nominal, "bit/s") if nominal else "",
        "share": percent(rate / nominal) if nominal else "",
    }
