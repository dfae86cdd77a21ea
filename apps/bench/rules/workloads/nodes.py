"""For how many nodes a file system is fit: for applications in which many do I/O, or for those in which few do."""

import itertools
from collections.abc import Sequence

from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft
from apps.bench.rules.layers import Verdict
from apps.bench.rules.shapes import RECORD, THREADS, in_words
from apps.bench.rules.storage.common import POOR, is_poor
from apps.bench.rules.storage.ends import carried_for
from apps.bench.rules.workloads.amounts import Amount
from apps.bench.rules.workloads.belief import Belief
from apps.bench.rules.workloads.described import READ, WRITE
from apps.bench.rules.workloads.supplies import Supply, grows, supplies
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

RULE, VERSION = "workload-nodes", 9
# Of figures that were repeated less often than this so much less.
ENOUGH, POOR_ONCE = 3, 0.4
# The most clients have so much of the best rate, or more of them are in each other's way.
AS_GOOD = 0.95
_ALONE_HAS = _(
    "%(name)s is fit for applications in which many nodes do I/O (%(way)s): one alone gets %(share)s %% of the rate"
)
_OWN_UNKNOWN = _("What the network carries for one client is not known: its own link may be what holds it.")
_WHOLE = _("One client alone gets %(alone)s, %(most)s of them together %(best)s (%(way)s).")
_LOWER = _(
    "Repetitions fall into two modes. In the lower one, which is what can be counted on, one client alone gets"
    " %(alone)s, %(most)s of them together %(best)s (%(way)s)."
)


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return for whom each file system is fit: for applications in which many nodes do I/O, or few."""
    belief, drafts = Belief(evidence, verdicts), []
    for pattern in (WRITE, READ):
        all_supplies = supplies(evidence, pattern, belief, is_sure=True)
        groups: dict[tuple[object, ...], list[Supply]] = {}
        for supply in all_supplies:
            groups.setdefault((supply.file_system, supply.path, supply.way), []).append(supply)
        for (name, _path, _way), own in groups.items():
            routes = {(item.path, item.way): item.route for item in all_supplies if item.file_system == name}
            is_alone = [*routes.values()].count(own[0].route) < 2
            carried = carried_for(evidence, own[0].file_system, pattern, own[0].ends[:1])
            drafts.append(_of_all_files(own, pattern, is_alone=is_alone, carried=carried))
    return _first_of_each([draft for draft in drafts if draft])


def _first_of_each(drafts: Sequence[FindingDraft]) -> list[FindingDraft]:
    """Return the first finding of each subject."""
    first_drafts: dict[str, FindingDraft] = {}
    for draft in drafts:
        first_drafts.setdefault(draft.subject, draft)
    return list(first_drafts.values())


def _of_all_files(
    own: Sequence[Supply], pattern: str, *, is_alone: bool, carried: float | None
) -> FindingDraft | None:
    """Return the finding by the largest files, of supplies that differ in the size of files alone.

    `carried` is what the network carries for one client (B/s, None: not known). None where any of those whose clients
    were varied from one on says otherwise.
    """
    ranked = sorted(own, key=lambda supply: -supply.file_size)
    drafts = [(supply, _nodes(supply, pattern, is_alone=is_alone, carried=carried)) for supply in ranked]
    finding = next((draft for _supply, draft in drafts if draft), None)
    is_denied = any(draft is None and 1 in _counts_varied(supply) for supply, draft in drafts)
    return None if is_denied else finding


def _counts_varied(supply: Supply) -> set[int]:
    """Return the numbers of clients that were varied at some record size."""
    return {count for cell in supply.cells.values() for record in cell for count in _by_clients(supply, record)}


def _nodes(supply: Supply, pattern: str, *, is_alone: bool, carried: float | None) -> FindingDraft | None:
    """Return that a file system wants many clients, where one alone gets less than half of all together.

    And less than half of what the network carries for one: more than that no file system gives it. Both with the same
    records, and with whichever it was measured: large ones may do without many clients.
    """
    records = dict.fromkeys(record for cell in supply.cells.values() for record in cell)
    sweeps = {record: _by_clients(supply, record) for record in records}
    sweeps_from_one = {record: own for record, own in sweeps.items() if 1 in own}
    if not sweeps_from_one and len(sweeps) > 1 and not grows(supply):
        return None
    rated_drafts = [
        _at_record(supply, pattern, record, own, is_alone=is_alone, carried=carried)
        for record, own in (sweeps_from_one or sweeps).items()
    ]
    drafts = [draft for draft in rated_drafts if draft is not None]
    return max(drafts, key=lambda draft: draft[0])[1] if drafts and len(drafts) == len(rated_drafts) else None


def _by_clients(supply: Supply, record: int | None) -> dict[int, Amount]:
    """Return {number: amount} of the clients that were varied, each with as many tasks, at one record size.

    Where one alone was not measured, but a publication says that the rate grows with them, it is {tasks in all:
    amount} of several clients. Threads of one client tell nothing of many nodes: {}.
    """
    ways: dict[int, dict[int, Amount]] = {}
    for (clients, tasks), own in sorted(supply.cells.items()):
        if record in own:
            ways.setdefault(tasks, {})[clients] = own[record]
    swept = [way for way in ways.values() if len(way) > 1 and 1 in way]
    if swept:
        return max(swept, key=lambda way: way[max(way)].value)
    if not grows(supply) or supply.trend is None or supply.trend.factor == THREADS:
        return {}
    return {clients * tasks: amount for tasks, way in ways.items() for clients, amount in way.items() if clients > 1}


def _at_record(
    supply: Supply,
    pattern: str,
    record: int | None,
    amounts: dict[int, Amount],
    *,
    is_alone: bool,
    carried: float | None,
) -> tuple[float, FindingDraft] | None:
    """Return the rate of all together at one record size and the finding; None unless few get little.

    Nor is it fit for many where the most that were tried, or any number between, have less than some of them had.
    """
    max_count = max(amounts, default=0)
    if max_count < 2 or amounts[max_count].value < AS_GOOD * max(amount.value for amount in amounts.values()):
        return None
    by_count = [amount for _count, amount in sorted(amounts.items())]
    if any(_is_less(more, fewer) for fewer, more in itertools.combinations(by_count, 2)):
        return None
    best, first = amounts[max_count], amounts.get(1)
    if first is not None:
        alone, reason = first.value, _WHOLE
        if first.is_bimodal or best.is_bimodal:
            reason = _LOWER
        # One client that has most of it by more tasks does not need the others.
        singles = [own[record] for (clients, _tasks), own in supply.cells.items() if clients == 1 and record in own]
        if not all(_is_poor(one.value, one, best, carried) for one in singles):
            return None
    else:
        alone = best.value / max_count
        reason = _("%(most)s tasks get %(best)s (%(way)s), growing with them: about %(alone)s each.")
        if all(tasks == 1 for _clients, tasks in supply.cells):
            reason = _("%(most)s clients get %(best)s (%(way)s), growing with them: about %(alone)s each.")
    if not _is_poor(alone, first, best, carried):
        return None
    params = {
        "name": supply.file_system,
        "pattern": pattern,
        "metric": pattern,
        "way": in_words(supply.tool, pattern, {RECORD: record}, supply.apart),
        "alone": format_quantity(alone, "B/s"),
        "best": format_quantity(best.value, "B/s"),
        "most": max_count,
        "share": percent(alone / best.value),
    }
    place = supply.route if is_alone else ", ".join(supply.ends[:3])
    text = _("%(name)s is fit for applications in which many nodes do I/O (%(way)s), and poor where few do")
    if carried is None:
        text = _ALONE_HAS
    draft = FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        subject=" ".join(word for word in (supply.file_system, pattern, place) if word)[:200],
        title=Message(text, params),
        why=(Message(reason, params),),
        value=float(max_count),
        unit="count",
        formula=f"X(1) / X({max_count}) = {alone / best.value:.2f}",
        evidence=tuple(sorted({*best.trials, *(first.trials if first else ())})),
        confidence=0.85 if first and min(first.n, best.n) > 1 else 0.65,
        applies_when=Message(_("Large files, read or written in order, each task its own.")),
        limits=(Message(_OWN_UNKNOWN),) if carried is None else (),
        source="Global file system over a WAN (KISTI, PNU)",
    )
    return best.value, draft


def _is_less(more: Amount, fewer: Amount) -> bool:
    """Return whether more clients surely have less than fewer of them."""
    return more.ends[1] < fewer.ends[0] and more.value < AS_GOOD * fewer.value


def _is_poor(alone: float, first: Amount | None, best: Amount, carried: float | None) -> bool:
    """Return whether one task surely has little of what all have; of two modes those of one kind are compared.

    Beside what the network carries for one (B/s), where that is known, it has to be little, too.
    """
    if first is None:
        return is_poor(alone, best.value, carried or best.value)
    high, low = first.ends[1], best.ends[0]
    if carried and not is_poor(high, carried, carried):
        return False
    if first.is_bimodal != best.is_bimodal:
        return high < POOR * low
    spread = max(first.spread, best.spread)
    if spread > 1:
        # By chance few may have met the lower of two modes, and many the upper one.
        return first.value < POOR * best.value and high * spread < low
    if min(first.n, best.n) < ENOUGH:
        return first.value < POOR_ONCE * best.value
    return first.value < POOR * best.value and high < low
