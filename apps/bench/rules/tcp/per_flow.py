"""Single streams that stay slow though the path holds many times as much: a limit on each flow, and of what kind."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, DIAGNOSIS, Evidence, FindingDraft, Point, Proposal
from apps.bench.rules.tcp import crowd, held, reordering, starts
from apps.bench.rules.tcp.ceilings import had_of
from apps.bench.rules.tcp.flow_causes import Slow, causes_of
from apps.bench.rules.tcp.growth import Growth, read_growth
from apps.bench.rules.tcp.held import LAW, WAITED
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.present import is_plain, most_sent
from apps.bench.rules.tcp.sweeps import MOST_ERROR, is_tcp, scatter_of, tcp_points
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-per-flow-limit", 14
# A stream below this share of the path, whose like multiply, is limited by itself.
SLOW = 0.5
# The window asked for could have carried so many times the rate, or else it is the limit itself.
ROOM = 2.0
# As many streams as the first one's rate asks for fill the path, unless those measured had less than this of it.
FILLS = 0.8
# So sure it is of runs of which slow start may be all.
SHORT = 0.4


# What is concluded of a rate, and of one that is only known to be less.
_TITLES = {
    "limit": (
        _("Something limits each flow to about %(rate)s, not the path"),
        _("Something limits each flow to less than %(rate)s, not the path"),
    ),
    "share": (
        _("Each flow has about %(rate)s: by a limit on it, or as its share beside others' is undecided"),
        _("Each flow has less than %(rate)s: by a limit on it, or as its share beside others' is undecided"),
    ),
    "start": (
        _("Each flow has about %(rate)s: by a limit on it, or as it starts slowly is undecided"),
        _("Each flow has less than %(rate)s: by a limit on it, or as it starts slowly is undecided"),
    ),
}


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that each flow is limited by itself, with what may limit it, the likeliest first.

    None unless streams multiply, the path holds more, and no window that is known explains the rate.
    """
    path, growth = read_path(evidence), read_growth(evidence)
    slow = _slow(evidence, growth)
    if path is None or slow is None or growth is None or not growth.multiplies:
        return None
    if slow.rate > SLOW * path.ceiling_bps or _is_window(slow, path.rtt.value):
        return None
    rates = slow.point.values("goodput")
    if len(rates) > 1 and scatter_of(evidence).error(rates) > MOST_ERROR:
        return None
    streams = path.ceiling_bps / slow.rate
    params = {"rate": format_quantity(slow.rate, "bit/s"), "ceiling": format_quantity(path.ceiling_bps, "bit/s")}
    reasons = [
        path.rtt.source,
        path.capacity.source,
        had_of(path, slow.rate, is_bound=slow.is_bound),
        growth.message,
    ]
    window = slow.point.parameters.get("window") or 0
    if window:
        text = _("Its window of %(window)s would allow %(rate)s.")
        rate = format_quantity(window * 8 / path.rtt.longest, "bit/s")
        reasons.append(Message(text, {"window": format_quantity(window, "B"), "rate": rate}))
    full = None if path.capacity.is_lower_bound else path.ceiling_bps
    is_even = crowd.are_in_proportion(growth.rates, full) and not slow.present.has_queue
    counts, may_be_window = _counts_beside(streams, path, growth), _is_window(slow, path.rtt.longest)
    causes = causes_of(evidence, slow, path, growth, is_even=is_even, may_be_window=may_be_window)
    reasons.append(counts or _expected(streams, growth))
    is_short = starts.said_of(slow.present, evidence) is not None
    # Shares of a link that others fill multiply as well, and a queue stands there as before a shaper.
    title = _TITLES["start" if is_short else "limit" if is_even else "share"][slow.is_bound]
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(title, params),
        why=tuple(reasons),
        value=slow.rate,
        unit="bit/s",
        high=slow.rate if slow.is_bound else None,
        formula=f"{'' if counts else 'N = '}η · C / X₁ = {params['ceiling']} / {params['rate']} = {streams:.0f}",
        evidence=tuple(sorted({*path.trials, *growth.trials, *slow.point.trials("goodput")})),
        present=slow.rate,
        predicted_unit="bit/s",
        confidence=path.rtt.temper(
            SHORT if is_short else 0.7 if slow.retransmits is not None or window else 0.6,
        ),
        applies_when=Message(_("One stream on this path; several at once each have the same limit.")),
        limits=(_open_causes(len(causes) + is_short),),
        source="RFC 6349, section 5; Mathis, Semke, Mahdavi, Ott (1997); RFC 2475",
        alternatives=causes,
        missing=(
            Message(_("What the kernels of both ends say of the connection: window, loss, and what it waited for.")),
        ),
        proposals=(Proposal("iperf3-tcp", {"window": "0", "streams": "1"}, {"congestion": "cubic, bbr"}),),
    )


def _open_causes(count: int) -> Message:
    if count > 1:
        return Message(_("Which of the causes below it is, these figures do not decide; their experiments do."))
    return Message(
        _("These figures rule the other causes out; the one below was not seen itself: its experiment tells.")
    )


def _slow(evidence: Evidence, growth: Growth | None) -> Slow | None:
    """Return the single stream, bounds included, of the sweep in which streams multiply: like with like.

    Where that is only printed, that of the largest window measured this way; the automatic one last.
    """
    candidates, order = [], reordering.read_order(evidence)
    # What different experiments measured of one setting is one figure: their best is no better than it.
    bounds = [pace.undisturbed(point) for point in evidence.points if point.statistic == BELOW]
    for point in (*tcp_points(evidence), *bounds):
        rates = point.values("goodput")
        if not is_tcp(point) or not rates or min(rates) <= 0 or not is_plain(point):
            continue
        if point.parameters.get("streams", 1) == 1 and evidence.is_of_way(point):
            candidates.append(Slow(point, sum(rates) / len(rates), order, most_sent(evidence, point)))
    if growth is not None and growth.fixed is not None:
        own = [slow for slow in candidates if _fixed_parameters(slow.point) == growth.fixed]
        trials = {trial for slow in own for trial in slow.point.trials("goodput")}
        candidates = [slow for slow in own if trials & {*growth.trials}]
    return max(candidates, key=lambda slow: (slow.point.parameters.get("window") or 0, slow.rate), default=None)


def _fixed_parameters(point: Point) -> Mapping[str, Any]:
    return rest_of(point.parameters, "streams")


def _is_window(slow: Slow, rtt_s: float) -> bool:
    """Return whether the window explains the rate: the one asked for, the one observed, or by the kernel's word."""
    buffers = slow.point.values("window_granted")
    window = min([slow.point.parameters.get("window") or 0, *(buffer / 2 for buffer in buffers)])
    if window and window * 8 / rtt_s < ROOM * slow.rate:
        return True
    sockets = slow.point.observed.get("tcp")
    kernel = sockets if isinstance(sockets, dict) else {}
    waits = [kernel.get(name) for name in ("receiver_window_limited", "send_buffer_limited")]
    if sum(wait for wait in waits if isinstance(wait, int | float)) >= WAITED:
        return True
    observed = [value for value in slow.point.values("window_observed") if value > 0]
    if not observed or slow.retransmits:
        return held.by_law(slow.present, rtt_s)
    return slow.rate >= LAW[0] * min(*observed, slow.most_sent) * 8 / rtt_s


def _counts_beside(streams: float, path: PathReading, growth: Growth) -> Message | None:
    """Return what the numbers measured say where so many streams do not fill the path; None where they may."""
    if growth.fall:
        text = _(
            "Of the numbers of streams tried %(best)s had the highest rate, %(rate)s; more of them are slower: with"
            " %(more)s it is %(less)s, %(share)s %% less."
        )
        return Message(text, growth.fall)
    between = growth.at(streams)
    if between is None or between >= FILLS * path.ceiling_bps:
        return None
    best = max(growth.rates, key=lambda count: growth.rates[count])
    text = _("Of the numbers of streams tried %(best)s had the highest rate: %(rate)s.")
    return Message(text, {"best": best, "rate": format_quantity(growth.rates[best], "bit/s")})


def _expected(streams: float, growth: Growth) -> Message:
    text = _("So about %(streams)s streams fill it.")
    if growth.knee:
        text = _("So about %(streams)s streams fill it; the knee was seen at %(knee)s.")
    return Message(text, {"streams": f"{streams:.0f}", "knee": f"{growth.knee or 0:g}"})
