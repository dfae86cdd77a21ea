"""One direction of a path that surely has less than the other at the same setting."""

from dataclasses import dataclass

from apps.bench.rules import pace
from apps.bench.rules.base import DIAGNOSIS, SAMPLE, Alternative, Evidence, FindingDraft, Point, Proposal
from apps.bench.rules.tcp import unlike
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.scatter import mean, read_scatter
from apps.bench.rules.tcp.sweeps import is_tcp, tcp_points
from apps.bench.rules.told import known_or_none
from apps.bench.rules.turns import NOT_IN_TURN
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool
from apps.bench.units import format_quantity

RULE, VERSION = "path-directions", 1
METRIC = "goodput"
# One direction has surely less by this share, and is told of where the other has so many times as much.
SURELY, TIMES = 0.05, 1.25
# So sure it is of directions measured in turn, and of those measured one after the other.
IN_TURN, APART = 0.9, 0.7


@dataclass(frozen=True)
class _BothWays:
    """One setting both ways: what this way had, and the other."""

    own: Point
    other: Point

    @property
    def rates(self) -> tuple[list[float], list[float]]:
        """Return the rates (bit/s) of each trial, this way and the other way."""
        return self.own.values(METRIC), self.other.values(METRIC)

    @property
    def highest(self) -> float:
        """Return the higher of the two mean rates (bit/s)."""
        return max(map(mean, self.rates))


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return by how much this direction is slower than the other, at the setting that had most; None if it is not."""
    other_way = evidence.way[::-1]
    pairs = [
        _BothWays(own, other)
        for beside in evidence.beside
        if other_way and beside.way == other_way
        for own, other in _shared(evidence, beside)
    ]
    if not pairs:
        return None
    pair = max(pairs, key=lambda item: item.highest)
    slow, fast = pair.rates
    scatter = read_scatter(rates for item in pairs for rates in item.rates)
    if mean(fast) < TIMES * mean(slow) or not scatter.is_less(slow, fast, by=SURELY, looked=len(pairs)):
        return None
    return _draft(pair)


def _draft(pair: _BothWays) -> FindingDraft:
    slow, fast = map(mean, pair.rates)
    own, other = (Present(point, rate, _streams(point)) for point, rate in ((pair.own, slow), (pair.other, fast)))
    params = {
        "slow": format_quantity(slow, "bit/s"),
        "fast": format_quantity(fast, "bit/s"),
        "times": f"{fast / slow:.3g}",
        "n": len(pair.rates[0]),
        "of": len(pair.rates[1]),
    }
    title = _("This direction has %(slow)s, the other one %(fast)s at the same setting: why is undecided")
    why = [
        Message(_("%(slow)s this way (n = %(n)s), %(fast)s the other way (n = %(of)s): ×%(times)s."), params),
        _setting(pair.own),
    ]
    if is_tcp(pair.own) and unlike.is_lossier(own, other):
        title = _("This direction has %(slow)s, the other one %(fast)s at the same setting, and loses more")
        text = _("Sent again this way: %(own)s; the other way: %(other)s.")
        words = {"own": unlike.again_text(own), "other": unlike.again_text(other)}
        why.append(Message(text, words))
    is_in_turn = pair.own.experiment == pair.other.experiment
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(title, params),
        why=tuple(why),
        value=slow,
        unit="bit/s",
        formula=f"X = {params['slow']}, X' = {params['fast']}, X'/X = {params['times']}",
        evidence=tuple(sorted({*pair.own.trials(METRIC), *pair.other.trials(METRIC)})),
        confidence=IN_TURN if is_in_turn else APART,
        applies_when=Message(_("This direction of the path, as measured.")),
        limits=() if is_in_turn else (Message(NOT_IN_TURN),),
        source="RFC 3449",
        alternatives=_ALTERNATIVES,
        missing=(Message(_("Which part of this direction holds the rate: the route, the sender, or the receiver.")),),
        proposals=(
            Proposal("iperf3-tcp", {"window": "0"}, {"direction": "forward, reverse", "streams": "1, 8"}),
            Proposal("traceroute"),
        ),
    )


def _shared(evidence: Evidence, beside: Evidence) -> list[tuple[Point, Point]]:
    """Return the points of each setting that was measured this way and the other way."""
    others = {_key(point): point for point in _one_way(beside)}
    return [(point, others[key]) for point in _one_way(evidence) if (key := _key(point)) in others]


def _one_way(evidence: Evidence) -> list[Point]:
    """Return what was measured of TCP and of datagrams whose data went the way of the evidence only."""
    datagrams = [pace.undisturbed(point) for point in evidence.points if point.values("loss")]
    return [
        point
        for point in (*tcp_points(evidence), *datagrams)
        if evidence.is_of_way(point) and point.statistic == SAMPLE and min(point.values(METRIC), default=0.0) > 0
    ]


def _key(point: Point) -> str:
    """Return what was set but for the direction, as a key."""
    parameters = sorted((n, repr(v)) for n, v in point.parameters.items() if n != Tool.backwards_at[0])
    return repr((point.tool, parameters))


def _streams(point: Point) -> int:
    return int(known_or_none(point.parameters, "streams") or 1)


def _setting(point: Point) -> Message:
    """Return the setting that both directions were measured at."""
    window, load = (known_or_none(point.parameters, name) or 0 for name in ("window", "rate"))
    params = {
        "streams": _streams(point),
        "window": format_quantity(window, "B"),
        "load": format_quantity(load, "bit/s"),
    }
    if not is_tcp(point):
        return Message(_("Both with an offered load of %(load)s."), params)
    text = _("Both with streams = %(streams)s and the automatic window.")
    return Message(_("Both with streams = %(streams)s and a window of %(window)s.") if window else text, params)


_ALTERNATIVES = (
    Alternative(
        Message(_("The directions take different routes, or one link has less this way: a limit, errors, duplex.")),
        Message(_("Trace the route from both ends, and compare the counts of errors of the interfaces each way.")),
    ),
    Alternative(
        Message(
            _("The sender of this direction, or its receiver, sets the pace: its buffers, processor or interface.")
        ),
        Message(_("Send from another node beside it, and compare the kernels' settings of both ends.")),
    ),
    Alternative(
        Message(_("Others send this way, and not the other.")),
        Message(_("Measure again by night and by day, and look at the load of the links meanwhile.")),
    ),
)
