"""Contradictions on one page: two values of one thing, or advice against advice."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from benchmarks.truth.judging.base import quantity
from benchmarks.truth.statements import FINDING, Statement
from benchmarks.truth.worlds.base import World

# Two values of one thing differ if they are farther apart than this.
APART = 1.15
# Datagrams carry so much less than the line that both may stand beside each other.
FRAMES = 1.25


def between(world: World, statements: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Yield (name, what is said) of all contradictions in what is said of one campaign."""
    findings = [item for item in statements if item.source == FINDING]
    if world.family == "network":
        yield from _values("two BDPs", _bdps(findings))
        yield from _values("two round trips", _told(findings, "rtt", "RTT %(rtt)s"))
        yield from _values("two capacities", _capacities(findings), FRAMES)
        yield from _advice(findings)
    else:
        yield from _values("two network ceilings", _told(findings, "ceiling", "that the network carries"))
        yield from _layers(findings)


def _values(name: str, values: Sequence[tuple[str, float]], apart: float = APART) -> Iterator[tuple[str, str]]:
    known = [(rule, value) for rule, value in values if value]
    if not known:
        return
    low, high = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])
    if high[1] > apart * low[1]:
        yield name, f"{low[0]} says {low[1]:.4g}, {high[0]} {high[1]:.4g}"


def _messages(item: Statement) -> Iterator[dict[str, Any]]:
    yield from item.fields.get("why", ())
    yield from item.fields.get("against", ())


def _told(findings: Sequence[Statement], name: str, words: str) -> list[tuple[str, float]]:
    """Return the values of a parameter in reasons of this form."""
    return [
        (f"{item.rule} {item.subject}", quantity(message["params"].get(name)) or 0.0)
        for item in findings
        for message in _messages(item)
        if words in message["msgid"]
    ]


def _bdps(findings: Sequence[Statement]) -> list[tuple[str, float]]:
    own = [(item.rule, float(item.fields["value"])) for item in findings if item.rule == "tcp-bdp"]
    return own + _told(findings, "bdp", "%(bdp)s")


def _capacities(findings: Sequence[Statement]) -> list[tuple[str, float]]:
    """Return what findings say that the path has; the panel of UDP speaks of what one flow can have."""
    capacities = [
        (
            item.rule,
            quantity(message["params"].get("nominal" if "%(nominal)s:" in message["msgid"] else "rate")) or 0.0,
        )
        for item in findings
        for message in _messages(item)
        if message["msgid"].startswith("Capacity ") and "of at least" not in message["msgid"]
    ]
    capacities += [(item.rule, float(item.fields["value"])) for item in findings if item.rule == "path-capacity"]
    capacities += [
        (item.rule, float(item.fields["value"]))
        for item in findings
        if item.rule == "path-bottleneck" and "agree" in item.fields["title"]["msgid"]
    ]
    return capacities


def _is(item: Statement, rule: str, kind: str = "", words: str = "", subject: str | None = None) -> bool:
    return (
        item.rule == rule
        and kind in ("", item.fields["kind"])
        and words in item.fields["title"]["msgid"]
        and subject in (None, item.subject)
    )


# Pairs of (rule, kind, words of the title, subject) that cannot both be right of one path.
AGAINST: tuple[tuple[str, tuple[str, str, str, str | None], tuple[str, str, str, str | None]], ...] = (
    ("ask for no window / ask for one", ("tcp-autotuning", "", "Ask for no", None),
     ("tcp-window-knee", "recommendation", "", None)),
    ("the path is full / each flow is limited", ("tcp-limit", "", "", "path"), ("tcp-per-flow-limit", "", "", None)),
    ("the path is full / more streams", ("tcp-limit", "", "", "path"), ("tcp-streams", "recommendation", "", None)),
    ("the path is full / try BBR", ("tcp-limit", "", "", "path"), ("tcp-congestion", "recommendation", "", None)),
    ("the path is full / pace", ("tcp-limit", "", "", "path"), ("tcp-pacing", "", "", None)),
    ("one stream is enough / each flow is limited", ("tcp-streams", "no-change", "", None),
     ("tcp-per-flow-limit", "", "", None)),
    ("the window / no larger limits", ("tcp-limit", "", "", "window"),
     ("tcp-sysctl", "no-change", "gain nothing", None)),
    ("jumbo frames / they do not pass", ("tcp-mtu", "recommendation", "", None),
     ("tcp-path-mtu", "", "", "black-hole")),
    ("the path loses by chance / pace", ("tcp-pacing", "", "", None), ("path-loss", "", "", None)),
    ("a processor / raise the window", ("tcp-limit", "", "", "processor"), ("tcp-bdp", "recommendation", "", None)),
    ("the receiving program / raise the window", ("tcp-limit", "", "", "receiver"),
     ("tcp-bdp", "recommendation", "", None)),
    ("the receiving program / larger limits", ("tcp-limit", "", "", "receiver"),
     ("tcp-sysctl", "recommendation", "", None)),
    ("the receiving program / more streams", ("tcp-limit", "", "", "receiver"),
     ("tcp-streams", "recommendation", "", None)),
    ("random loss / bursts that pacing mends", ("tcp-limit", "", "", "loss"), ("tcp-pacing", "", "", None)),
)  # fmt: skip


def _advice(findings: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    for name, first, second in AGAINST:
        one = next((item for item in findings if _is(item, *first)), None)
        other = next((item for item in findings if _is(item, *second)), None)
        if one and other:
            yield name, f"{one.rule} {one.subject}; {other.rule} {other.subject}"


def _layers(findings: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Yield the network called full where another layer is said to be the limit of the same rates."""
    for one, other in combinations(findings, 2):
        pair = {one.rule: one, other.rule: other}
        if pair.keys() != {"limiting-layer", "storage-clients"}:
            continue
        layer, clients = pair["limiting-layer"], pair["storage-clients"]
        metric = clients.fields["title"]["params"].get("metric", "")
        is_full = any("it is full" in message["msgid"] for message in clients.fields["why"])
        if is_full and metric in layer.subject and "network" not in layer.fields["title"]["msgid"].lower():
            yield "the network is full / another layer limits", f"{clients.subject}; {layer.subject}"
