"""What a rate and the RTT together look like: one window or one block in each round trip, by the arithmetic alone."""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.bench.rules.base import SAMPLE, Alternative, Evidence, Proposal
from apps.bench.rules.layers.questions import Level, Question
from apps.bench.rules.shapes import RECORD, described
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Amounts that are under way in each RTT where nobody has raised a limit: windows (B), as kernels grant them.
UNSCALED = 65_535
WINDOWS = (UNSCALED, 98_304, 131_072, 174_760, 212_992)
# A measured product that is this near an amount is taken for it; a printed figure has two digits or three.
NEAR_MEASURED, NEAR_PRINTED = 0.03, 0.05
# IOzone counts in KiB, and a printed "MB/s" of it may be MiB/s.
BINARY = 2**20 / 10**6
# Round trips for each block beyond which the RTT explains nothing any more.
MOST_TRIPS = 8
# Packets that a loss lets through at a time (Mathis, 1997).
MATHIS = 1.22

_WINDOW = _("A TCP window of %(window)s: %(rate)s · %(rtt)s = %(product)s B under way in each round trip.")
_UNSCALED = _(
    "One unscaled 64 KiB window: %(rate)s · %(rtt)s = %(product)s B, and %(window)s is the maximum without"
    " window scaling."
)
_TRIPS = _(
    "%(trips)s round trips for each block of %(block)s, one block after the other: %(block)s / %(rate)s = %(time)s ="
    " %(exact)s RTT."
)
_LOOK_AT_SOCKETS = _(
    "Look at the connections of the file system's daemons (ss -tmi: wscale, rwnd_limited). Restart the daemons or"
    " mount again, as connections keep the limits they were opened with. With more tasks the rate must grow in"
    " proportion."
)
_SWEEP_RECORDS = _(
    "Sweep the record size: if blocks wait for answers the rate grows with it; if a window is full it does not."
)


@dataclass(frozen=True)
class Match:
    """How far (relative) a product lies from what it is taken for; how, and what would decide."""

    distance: float
    alternative: Alternative


def explain(
    evidence: Evidence, question: Question, level: Level, rtt: float | None, mtu: int | None
) -> tuple[Alternative, ...]:
    """Return what a rate far below every layer may be, the nearest match of the arithmetic first."""
    if not rtt:
        return ()
    matches = [*_windows(question, level, rtt), *_blocks(evidence, question, level, rtt)]
    best = sorted(matches, key=lambda match: match.distance)
    return (*(match.alternative for match in best), _loss(question, level, rtt, mtu))


def _readings(level: Level) -> Iterator[tuple[float, bool]]:
    """Yield the rates (B/s) of one flow that a level may mean, and whether a printed MB was taken for 2^20 B."""
    for flows in dict.fromkeys((1, len(level.clients) or 1, level.tasks)):
        yield level.value / flows, False
        if level.statistic != SAMPLE and not level.n > 1:
            yield level.value / flows * BINARY, True


def _near(level: Level) -> float:
    return NEAR_MEASURED if level.n > 1 else NEAR_PRINTED


def _windows(question: Question, level: Level, rtt: float) -> list[Match]:
    matches: dict[int, Match] = {}
    for rate, is_binary in _readings(level):
        for window in WINDOWS:
            distance = abs(rate * rtt / window - 1)
            if distance > _near(level) or (window in matches and matches[window].distance <= distance):
                continue
            title = _UNSCALED if window == UNSCALED else _WINDOW
            params = {
                "window": f"{window:,} B",
                "rate": _rate(rate, is_binary),
                "rtt": format_quantity(rtt, "s"),
                "product": f"{rate * rtt:,.0f}",
            }
            test = Message(_LOOK_AT_SOCKETS)
            matches[window] = Match(distance, Alternative(Message(title, params), test, _more_tasks(question, level)))
    return list(matches.values())


def _blocks(evidence: Evidence, question: Question, level: Level, rtt: float) -> list[Match]:
    matches: dict[tuple[int, int], Match] = {}
    parameters = described(level.point, evidence)
    for block in dict.fromkeys(size for size in (parameters.get(RECORD), question.facts.block_size_bytes) if size):
        for rate, is_binary in _readings(level):
            trips = block / rate / rtt
            count = round(trips)
            distance = abs(trips / count - 1) if count else 1.0
            key = (block, count)
            if not 1 <= count <= MOST_TRIPS or distance > _near(level):
                continue
            if key in matches and matches[key].distance <= distance:
                continue
            params = {
                "trips": count,
                "block": format_quantity(block, "B"),
                "rate": _rate(rate, is_binary),
                "time": format_quantity(block / rate, "s"),
                "exact": f"{trips:.2f}",
            }
            test = Message(_SWEEP_RECORDS)
            matches[key] = Match(
                distance, Alternative(Message(_TRIPS, params), test, _other_records(question, level, block))
            )
    return list(matches.values())


def _loss(question: Question, level: Level, rtt: float, mtu: int | None) -> Alternative:
    segment = (mtu or 1500) - 52
    probability = (segment * MATHIS / (level.value * rtt)) ** 2
    title = _("Loss on the connections of the file system alone: a probability of %(loss)s would allow %(rate)s.")
    params = {"loss": f"{min(probability, 1.0):.1e}", "rate": format_quantity(level.value, "B/s")}
    test = Message(_("Watch the retransmits of these connections (ss -ti) while the file system is slow."))
    return Alternative(Message(title, params), test)


def _more_tasks(question: Question, level: Level) -> Proposal | None:
    if not level.clients:
        return None
    return Proposal(
        tool="iozone",
        fixed=_fixed(level),
        factors={"threads": "1, 2, 4, 8, 12"},
        roles={"client": level.clients},
        file_system=question.facts.name,
    )


def _other_records(question: Question, level: Level, block: int) -> Proposal | None:
    if not level.clients:
        return None
    sizes = ", ".join(format_quantity(block * factor, "B") for factor in (1, 2, 4, 8))
    fixed = {name: value for name, value in _fixed(level).items() if name != "record_size"}
    return Proposal(
        tool="iozone",
        fixed=fixed,
        factors={"record_size": sizes},
        roles={"client": level.clients},
        file_system=question.facts.name,
    )


def _fixed(level: Level) -> dict[str, object]:
    parameters = level.point.parameters
    return {
        name: parameters[name]
        for name in ("file_size", "record_size")
        if parameters.get(name) and level.point.tool == "iozone"
    }


def _rate(rate: float, is_binary: bool) -> str:
    return f"{rate / 2**20:.4g} MiB/s" if is_binary else format_quantity(rate, "B/s")
