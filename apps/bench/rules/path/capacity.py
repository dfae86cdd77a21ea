"""What the path holds by each means, whether they agree, and what speaks against each."""

from apps.bench.network.loss_curve import THRESHOLD
from apps.bench.rules import pace
from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft, Proposal
from apps.bench.rules.path import excess, means
from apps.bench.rules.path.excess import load_text
from apps.bench.rules.path.means import Estimate
from apps.bench.rules.tcp import estimates, lines, members
from apps.bench.rules.tcp.lines import EXCEEDS
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "path-capacity", 10
# Means that differ by no more than this agree.
AGREE = means.AGREE
OF_PAYLOAD = Message(_("The rate of UDP and TCP is of payload; dispersion tells the rate at the line."))


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the capacity; None unless a means that finds one was used: packet dispersion, or UDP's loads.

    One flow of datagrams may be held by a limit on each flow: what it has counts where another figure bears it out.
    What TCP reaches or probes find available stands beside it: neither is a capacity. A means that found less than
    came through was misled, by however little: no capacity ends below a bound that is told with it.
    """
    return None if means.is_told_beside(evidence) else conclude_way(means.of_way(evidence))


def conclude_way(evidence: Evidence) -> FindingDraft | None:
    """Return the capacity by all that was measured of one way, in whichever roles."""
    readings = means.read_means(evidence)
    firm = [item for item in readings if not item.is_bound and means.is_borne_out(evidence, item, readings)]
    if not firm:
        return None
    arrivals = [item.low for item in readings if item.is_bound or item.means == means.UDP]
    max_rate = max([*arrivals, lines.whole_of(evidence)])
    misled = [item for item in firm if _is_exceeded(evidence, item, readings)]
    credible = [item for item in firm if item not in misled]
    if misled and not credible:
        return _at_least(evidence, readings, misled, max_rate)
    return _between(evidence, readings, credible, misled, max_rate)


def _is_exceeded(evidence: Evidence, item: Estimate, readings: list[Estimate]) -> bool:
    """Return whether more came through than a means found: of payload, or with its headers at the line."""
    probes = [bound.low for bound in readings if bound.means == means.AVAILABLE]
    if item.means == means.DISPERSION:
        # The spacing of packets tells the rate at the line, as probes do.
        return lines.is_dispersion_misled(evidence) or max(probes, default=0.0) > EXCEEDS * item.high
    payload = [bound.low for bound in readings if bound.is_bound and bound.means != means.AVAILABLE]
    return max([*payload, lines.whole_of(evidence)]) > EXCEEDS * item.high or (
        max(probes, default=0.0) > EXCEEDS * means.at_line(evidence, item)
    )


def _between(
    evidence: Evidence, readings: list[Estimate], firm: list[Estimate], misled: list[Estimate], max_rate: float
) -> FindingDraft:
    # The payload of short datagrams is no rate that the path can be compared by: headers take as much again.
    length = means.short_datagram_of(evidence)
    spans = [means.span_at_line(evidence, item) if length else (item.low, item.high) for item in firm]
    # No end lies below what came through, which is payload: at the line it is more.
    low, high = (max(max_rate, end) for end in (min(low for low, _h in spans), max(high for _l, high in spans)))
    agree = high <= (1 + AGREE) * low
    params = {"low": format_quantity(low, "bit/s"), "high": format_quantity(high, "bit/s")}
    title = _("The path holds %(low)s to %(high)s") if high > low else _("The path holds %(high)s")
    if length:
        title = _("The path holds %(low)s to %(high)s at the line, as datagrams of %(length)s tell")
        params["length"] = format_quantity(length, "B")
    line = max(means.at_line(evidence, item) for item in firm)
    trials = tuple(sorted({trial for item in readings for trial in item.trials}))
    curve, _loads = estimates.loss_curve_of(evidence)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(title, params),
        why=(*_reasons(evidence, readings, misled), *_nominal(evidence, line)),
        against=(*_misled(misled), *_against(evidence, agree), *means.other_times(evidence)),
        value=high,
        unit="bit/s",
        low=low,
        high=high,
        formula="; ".join(f"{item.means}: {_interval(item)}" for item in readings),
        evidence=trials,
        confidence=confidence_of((len(firm) > 1 and agree, 0.15), (not misled, 0.1), base=0.7),
        applies_when=means.applies_when(evidence, trials),
        limits=(OF_PAYLOAD, *members.limits_of_one_flow(evidence)),
        source="RFC 5136, section 2.3; Dovrolis, Ramanathan, Moore (2004)",
        alternatives=excess.causes_of(curve, curve.worst if curve else None),
        missing=_missing(readings),
        proposals=_proposals(readings, high),
    )


def _at_least(evidence: Evidence, readings: list[Estimate], misled: list[Estimate], max_rate: float) -> FindingDraft:
    """Return that more came through than the means found that find a capacity: it is so much or more."""
    params = {"rate": format_quantity(max_rate, "bit/s")}
    bounds = [means.span_at_line(evidence, item)[0] for item in readings if item.is_bound]
    line = max([max_rate, *bounds, lines.of_whole(evidence)])
    # The load that came through whole is no reading of its own.
    curve, loads = estimates.loss_curve_of(evidence)
    trials = tuple(sorted({*loads, *(trial for item in readings for trial in item.trials)}))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(_("The path holds %(rate)s or more: so much came through"), params),
        why=(*_reasons(evidence, readings, misled), *_nominal(evidence, line)),
        against=(*_misled(misled), *means.other_times(evidence)),
        value=max_rate,
        unit="bit/s",
        low=max_rate,
        formula="; ".join(f"{item.means}: {_interval(item)}" for item in readings),
        evidence=trials,
        confidence=0.8,
        applies_when=means.applies_when(evidence, trials),
        limits=(OF_PAYLOAD, *members.limits_of_one_flow(evidence)),
        source="RFC 5136, section 2.3",
        alternatives=excess.causes_of(curve, curve.worst if curve else None),
        missing=(Message(_("What the path holds at most: higher loads of UDP.")),),
        proposals=(
            Proposal("iperf3-udp", {}, {"rate": ", ".join(load_text(max_rate * share) for share in (1, 1.5, 2, 3))}),
        ),
    )


def _misled(items: list[Estimate]) -> list[Message]:
    texts = {
        means.UDP: _("UDP's loads level off at %(rate)s, though more came through: something else held them."),
        means.DISPERSION: _("Packet dispersion tells %(rate)s, though more came through: it was misled."),
    }
    return [Message(texts[item.means], {"rate": format_quantity(item.high, "bit/s")}) for item in items]


def _interval(item: Estimate) -> str:
    low, high = format_quantity(item.low, "bit/s"), format_quantity(item.high, "bit/s")
    text = low if low == high else f"{low} … {high}"
    return f">= {text}" if item.is_bound else text


def _reasons(evidence: Evidence, readings: list[Estimate], misled: list[Estimate]) -> list[Message]:
    """Return what each means told, but for those that were misled."""
    passed = evidence.elsewhere
    return [
        passed.message if passed and item.means == means.ELSEWHERE else _reading_reason(item)
        for item in readings
        if item not in misled
    ]


def _reading_reason(item: Estimate) -> Message:
    texts = {
        means.UDP: _("UDP: of loads up to %(rate)s no more than %(share)s %% was lost; of higher ones more was."),
        means.DISPERSION: _("Packet dispersion: %(rate)s."),
        means.TCP: _("TCP: %(rate)s of goodput at best, which the path holds at least."),
        means.AVAILABLE: _("Probes found %(rate)s available, which the path holds at least."),
    }
    low, high = format_quantity(item.low, "bit/s"), format_quantity(item.high, "bit/s")
    rate = low if low == high or item.means == means.UDP else f"{low} … {high}"
    return Message(texts[item.means], {"rate": rate + item.how, "share": f"{100 * THRESHOLD:g}"})


def _nominal(evidence: Evidence, high: float) -> list[Message]:
    nominal = evidence.path.capacity_bps
    if not nominal:
        return []
    text = _("The lowest link is said to have %(nominal)s: what was measured is %(share)s %% of it at the line.")
    if high > EXCEEDS * nominal:
        text = _("The lowest link is said to have %(nominal)s: more than that was measured.")
    params = {"nominal": format_quantity(nominal, "bit/s"), "share": percent(high / nominal)}
    return [Message(text, params)]


def _against(evidence: Evidence, agree: bool) -> list[Message]:
    objections = []
    doubtful = [point for point in estimates.dispersion_points(evidence) if estimates.is_doubtful(point)]
    for name in sorted({point.tool or estimates.CAPACITY for point in doubtful}):
        text = _("%(tool)s is left out: by its own word it is not sure (its modes scatter, or no line fits).")
        objections.append(Message(text, {"tool": name}))
    busy_tools = {point.tool for point in estimates.dispersion_points(evidence) if pace.flags_of(point)}
    for name in sorted(busy_tools - {point.tool for point in doubtful}):
        text = _("%(tool)s is left out: one of its ends was at its limit, which spreads packets as a slow link does.")
        objections.append(Message(text, {"tool": name}))
    if not agree:
        objections.append(
            Message(_("The means differ by more than 15 %: of payload and of the line, or one was misled."))
        )
    return objections


def _missing(readings: list[Estimate]) -> tuple[Message, ...]:
    names = {item.means for item in readings}
    texts = {
        means.UDP: _("The loss of UDP over the offered load."),
        means.DISPERSION: _("The capacity by packet dispersion (pathrate)."),
    }
    return tuple(Message(text) for name, text in texts.items() if name not in names)


def _proposals(readings: list[Estimate], high: float) -> tuple[Proposal, ...]:
    names = {item.means for item in readings}
    loads = ", ".join(load_text(high * share) for share in (0.5, 0.8, 0.9, 1.0, 1.1, 1.3))
    proposals = {means.UDP: Proposal("iperf3-udp", {}, {"rate": loads}), means.DISPERSION: Proposal("pathrate")}
    return tuple(proposal for name, proposal in proposals.items() if name not in names)
