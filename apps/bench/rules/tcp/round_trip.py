"""What the evidence says of the path's own round-trip time."""

from dataclasses import dataclass

from apps.bench.rules.base import Evidence
from apps.bench.rules.readings import read_once
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Below this share of what the links carry no queue of the measurement's own stands on the path; so many runs tell.
IDLE, RUNS = 0.5, 3
# Probes whose least lies above TCP's by more saw another path, or waited.
NEAR = 0.9
# So far probes are trusted that TCP speaks against.
UNSURE = 0.5
# What TCP saw there this many times the RTT that the links are described with contradicts it.
REFUTES = 1.5


@dataclass(frozen=True)
class Known:
    """A figure of the path, where it comes from, how much that is trusted (0 to 1), and its trials.

    `is_stated` says that it is only said of the links, and nothing measured tells; `campaign` names the other one
    in which it was measured ("": this one). `by_tcp` is the RTT (s) that TCP saw at least, where that refutes it.
    """

    value: float
    source: Message
    trust: float
    trials: tuple[int, ...] = ()
    is_lower_bound: bool = False
    is_stated: bool = False
    campaign: str = ""
    by_tcp: float = 0.0

    @property
    def is_doubted(self) -> bool:
        """Return whether TCP saw a far longer RTT wherever it left the path room."""
        return self.by_tcp > self.value

    @property
    def longest(self) -> float:
        """Return the longest RTT (s) that it may be: what a window would allow by a shorter one rules out nothing."""
        return max(self.value, self.by_tcp)

    def temper(self, confidence: float) -> float:
        """Return how sure what rests on it is: of a doubted RTT no more than that is trusted."""
        return min(confidence, self.trust) if self.is_doubted else confidence

    @property
    def is_open(self) -> bool:
        """Return whether nothing measured tells what it is at most."""
        return self.is_stated or self.is_lower_bound


@read_once
def read_rtt(evidence: Evidence) -> Known | None:
    """Return the path's own RTT: the least measured (RFC 6349, section 3.2), else the one given with the links.

    TCP's own minimum where no probe came near it, as it holds whatever a probe's packets waited for. Not the links'
    where TCP saw far more whenever it left the path room: what is described is another path.
    """
    probes, link_rtt = _samples(evidence, "rtt_min"), evidence.path.rtt_s
    under_load = _samples(evidence, "min_rtt")
    min_rtt = min(under_load.values(), default=0.0)
    trials = tuple(trial for trial, value in under_load.items() if value == min_rtt)[:1]
    if probes and 0 < min_rtt < NEAR * min(probes.values()):
        text = _("RTT %(rtt)s: TCP's minimum; no probe came below %(probed)s.")
        params = {**_params_of(min_rtt, len(under_load)), "probed": format_quantity(min(probes.values()), "s")}
        return Known(min_rtt, Message(text, params), 0.9, trials)
    if probes:
        probed = min(probes.values())
        text, params = _("RTT %(rtt)s: the minimum measured (n = %(n)s)."), _params_of(probed, len(probes))
        if link_rtt and min_rtt > REFUTES * probed and 1 / REFUTES < min_rtt / link_rtt < REFUTES:
            text = _("RTT %(rtt)s: TCP's minimum, about what the links are described with; probes had %(probed)s.")
            params = {**_params_of(min_rtt, len(under_load)), "probed": format_quantity(probed, "s")}
            return Known(min_rtt, Message(text, params), 0.6, trials)
        is_doubted = _is_refuted(evidence, probed, under_load)
        if is_doubted:
            text = _(
                "RTT %(rtt)s: the minimum measured (n = %(n)s). TCP saw %(seen)s at least, also where it left the"
                " path room: its packets wait in a queue, or go another way than the probes."
            )
            params["seen"] = format_quantity(min_rtt, "s")
        trust, by_tcp = (UNSURE, min_rtt) if is_doubted else (1.0, 0.0)
        return Known(probed, Message(text, params), trust, tuple(sorted(probes)), by_tcp=by_tcp)
    if link_rtt and _is_refuted(evidence, link_rtt, under_load):
        text = _("RTT %(rtt)s: TCP's minimum; the links are described with %(stated)s, which no run came near.")
        params = {**_params_of(min_rtt, len(under_load)), "stated": format_quantity(link_rtt, "s")}
        return Known(min_rtt, Message(text, params), 0.6, trials)
    if link_rtt:
        text, params = _("RTT %(rtt)s: as given with the links, not measured."), _params_of(link_rtt, 0)
        if under_load:
            text = _("RTT %(rtt)s: as given with the links; TCP saw %(seen)s at least.")
            params["seen"] = format_quantity(min_rtt, "s")
        return Known(link_rtt, Message(text, params), 0.8)
    if under_load:
        message = Message(_("RTT %(rtt)s: TCP's minimum under load, an upper bound."), _params_of(min_rtt, 0))
        return Known(min_rtt, message, 0.6, trials)
    return None


def _is_refuted(evidence: Evidence, rtt_s: float, under_load: dict[int, float]) -> bool:
    """Return whether runs that left the path room saw far more than the RTT that probes or the links have.

    Room is left by what has far less than the links carry, or than other runs had.
    """
    rates = _samples(evidence, "goodput")
    most = max([evidence.path.capacity_bps or 0.0, *rates.values()])
    idle = [value for trial, value in under_load.items() if trial in rates and rates[trial] < IDLE * most]
    return len(idle) >= RUNS and min(under_load.values()) > REFUTES * rtt_s


def _samples(evidence: Evidence, metric: str) -> dict[int, float]:
    return {
        trial: value
        for item in (evidence, *evidence.beside)
        for point in item.points
        for trial, value in point.metrics.get(metric, {}).items()
        if value > 0
    }


def _params_of(rtt_s: float, count: int) -> dict[str, object]:
    return {"rtt": format_quantity(rtt_s, "s"), "n": count}
