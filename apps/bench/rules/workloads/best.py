"""Which of several file systems is the best for so many nodes, measured alike."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft
from apps.bench.rules.layers import Verdict
from apps.bench.rules.shapes import RECORD, in_words
from apps.bench.rules.shapes.apart import words_of
from apps.bench.rules.workloads.bases import MEASURED
from apps.bench.rules.workloads.belief import Belief, distinct
from apps.bench.rules.workloads.described import READ, WRITE, Workload
from apps.bench.rules.workloads.fits import Fit, fit_of
from apps.bench.rules.workloads.nodes import POOR_ONCE
from apps.bench.rules.workloads.supplies import Supply, supplies
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "workload-best", 7
# The better of two file systems is named if it is this much better.
BETTER = 1.1
# Files of the field's campaigns: large, so that creating them costs nothing.
LARGE = 4 * 1024**3


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return which of several file systems is the best for few nodes and for many."""
    belief, drafts = Belief(evidence, verdicts), []
    for pattern in (WRITE, READ):
        all_supplies = supplies(evidence, pattern, belief, is_sure=True)
        for nodes in sorted({clients for supply in all_supplies for clients, tasks in supply.cells if tasks == 1}):
            drafts.append(_best(evidence, all_supplies, pattern, nodes))
    return [draft for draft in drafts if draft]


class _Pair(NamedTuple):
    """The best of several file systems and the next, at one record size and one of files (not told: None and 0).

    `apart` are the settings of the `tool` in which others of either differ from these.
    """

    best: Fit
    second: Fit
    record: int | None
    file_size: int
    tool: str
    apart: Mapping[str, Any]


def _best(evidence: Evidence, all_supplies: list[Supply], pattern: str, nodes: int) -> FindingDraft | None:
    """Return the best of several file systems measured by the same clients, for so many nodes.

    Like is compared with like: the same records, files, tool and way of using it. One that is behind with others, or
    that has more with some that the other was not measured with, is not the best.
    """
    own = [supply for supply in all_supplies if (nodes, 1) in supply.cells]
    ends: dict[str, set[str]] = {}
    for supply in all_supplies:
        ends.setdefault(supply.file_system, set()).update(supply.ends)
    records = dict.fromkeys(record for supply in own for record in supply.cells[nodes, 1])
    pairs = [pair for record in records for pair in _pairs(evidence, own, Workload(pattern, LARGE, nodes), record)]
    pairs = [pair for pair in pairs if ends[pair.best.file_system] & ends[pair.second.file_system]]
    behind = {pair.second.file_system for pair in pairs}
    pairs = [pair for pair in pairs if pair.best.file_system not in behind]
    if not pairs:
        return None
    max_rates: dict[str, float] = {}
    for supply in own:
        rates = [amount.high for amount in supply.cells[nodes, 1].values()]
        max_rates[supply.file_system] = max(rates + [max_rates.get(supply.file_system, 0.0)])
    pair = max(pairs, key=lambda item: (item.best.rate, item.second.rate))
    best = pair.best
    rivals = {item.second.file_system for item in pairs if item.best.file_system == best.file_system}
    is_best = _is_better(best, pair.second) and all(max_rates[rival] < best.rate for rival in rivals)
    return _draft(pair, pattern, nodes) if is_best else None


def _is_better(best: Fit, second: Fit) -> bool:
    """Return whether one surely has more; lone figures, of which no interval is known, by much more."""
    if best.low is None or second.high is None:
        return second.rate < POOR_ONCE * best.rate
    return best.rate >= BETTER * second.rate and best.low > second.high


def _pairs(evidence: Evidence, own: list[Supply], workload: Workload, record: int | None) -> list[_Pair]:
    """Return every two that were measured in the same way at one record size, the better of them first."""
    ways: dict[tuple[tuple[str, ...], int], list[Fit]] = {}
    supplies_of_ways: dict[tuple[tuple[str, ...], int], list[Supply]] = {}
    for supply in own:
        cells = {count: {record: amounts[record]} for count, amounts in supply.cells.items() if record in amounts}
        if (workload.nodes, 1) not in cells:
            continue
        like = replace(supply, cells=cells)
        item = fit_of(evidence, like, replace(workload, record_size=record or None))
        if item and item.basis == MEASURED:
            ways.setdefault((supply.way, supply.file_size), []).append(item)
            supplies_of_ways.setdefault((supply.way, supply.file_size), []).append(supply)
    pairs = []
    for way, fits in ways.items():
        compared = supplies_of_ways[way]
        apart = {name: value for supply in compared for name, value in supply.apart.items()}
        for first, second in itertools.combinations(sorted(fits, key=lambda item: -item.rate), 2):
            if first.file_system != second.file_system:
                pairs.append(_Pair(first, second, record, way[1], compared[0].tool, apart))
    return pairs


def _draft(pair: _Pair, pattern: str, nodes: int) -> FindingDraft:
    best, second = pair.best, pair.second
    params = {
        "best": best.file_system,
        "way": _way(pair, pattern),
        "second": second.file_system,
        "nodes": nodes,
        "pattern": pattern,
        "rate": format_quantity(best.rate, "B/s"),
        "less": format_quantity(second.rate, "B/s"),
    }
    text = _("For %(nodes)s nodes (%(way)s) %(best)s does best: %(rate)s, where %(second)s gives %(less)s")
    if nodes == 1:
        text = _("For one node (%(way)s) %(best)s does best: %(rate)s, where %(second)s gives %(less)s")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        is_comparison=True,
        subject=f"{pattern}, {nodes}",
        title=Message(text, params),
        why=(*best.why, *_alike(pair)),
        value=best.rate,
        unit="B/s",
        low=best.low,
        high=best.high,
        formula=f"X({best.file_system}) / X({second.file_system}) = {best.rate / second.rate:.2f}",
        evidence=tuple(sorted({*best.trials, *second.trials})),
        tried=second.rate,
        predicted=best.rate,
        predicted_interval=None if best.low is None or best.high is None else (best.low, best.high),
        predicted_unit="B/s",
        confidence=min(best.confidence, second.confidence),
        applies_when=Message(_("The data can lie on either of them.")),
        limits=distinct((*best.doubts, *second.doubts)),
        source="Hoefler, Belli, SC'15, rule 7",
    )


def _way(pair: _Pair, pattern: str) -> str:
    """Return what both were measured with; records under the name that all tools share."""
    files = f", file_size = {format_quantity(pair.file_size, 'B')}" if pair.file_size else ""
    others = "".join(f", {word}" for word in words_of(pair.tool, pair.apart))
    return in_words("", pattern, {RECORD: pair.record}) + files + others


def _alike(pair: _Pair) -> tuple[Message, ...]:
    """Return with which records both were measured, and if nobody told with which files."""
    lines = []
    if pair.record is not None:
        text = _("Both were measured with records of %(size)s.")
        lines.append(Message(text, {"size": format_quantity(pair.record, "B")}))
    if not pair.file_size:
        lines.append(Message(_("With files of which size either was measured is not known.")))
    return tuple(lines)
