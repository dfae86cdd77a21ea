"""What a number of nodes and tasks gets, by the numbers that were measured: as measured, between, or beyond."""

import math
from collections.abc import Mapping
from dataclasses import replace

from apps.bench.rules.workloads.amounts import Amount
from apps.bench.rules.workloads.bases import BETWEEN, BEYOND, LOOSE, PLATEAU, KnownAmount, Predicted, weakest
from apps.bench.rules.workloads.belief import distinct
from apps.bench.text import Message, _

# From this share of the growth in the number of tasks on the rate grows in proportion.
PROPORTIONAL = 0.7
_BEYOND = _("It lies beyond what was measured.")
_FEWER = _("Fewer tasks than the %(count)s measured.")
_FALLS = _("The rate is printed to fall as clients or tasks are added: more get less.")
# {(nodes, tasks on each): amount}.
Cells = Mapping[tuple[int, int], KnownAmount]


def at_count(cells: Cells, nodes: int, tasks: int, *, grows: bool = False, falls: bool = False) -> Predicted | None:
    """Return what `nodes` get with `tasks` on each; whether the rate is printed to grow or fall with their number.

    None of no cells.
    """
    amounts = {clients * own: known for (clients, own), known in cells.items() if own == tasks}
    if not amounts:
        amounts = _of_other_tasks(cells, nodes)
    total = nodes * tasks
    if total in amounts:
        own, basis = amounts[total].amount, amounts[total].basis
        text = _("Measured with as many tasks (n = %(n)s).")
        return Predicted(own.value, own.low, own.high, basis, own.trials, own.n, (Message(text, {"n": own.n}),),
                         _doubts(amounts[total]))  # fmt: skip
    below = max((count for count in amounts if count < total), default=None)
    above = min((count for count in amounts if count > total), default=None)
    plain = {count: known.amount for count, known in amounts.items()}
    if below is not None and above is not None:
        between = _between(plain, below, above, total)
        bases = (BETWEEN, amounts[below].basis, amounts[above].basis)
        return replace(between, basis=weakest(*bases), doubts=_doubts(amounts[below], amounts[above]))
    if above is not None:
        outside = _under(plain, above, total, grows=grows, falls=falls)
    elif below is not None:
        outside = _over(plain, total, grows=grows, falls=falls)
    else:
        return None
    return replace(outside, doubts=(*_doubts(*amounts.values()), *outside.doubts))


def _doubts(*amounts: KnownAmount) -> tuple[Message, ...]:
    """Return what makes amounts doubtful, each once."""
    doubts = [doubt for item in amounts for doubt in (*item.doubts, *item.amount.doubts)]
    if any(item.amount.is_bimodal for item in amounts):
        doubts.append(Message(_("It has two modes: the lower is what can be counted on.")))
    if any(item.amount.n < 2 for item in amounts):
        doubts.append(
            Message(_("It rests on a lone figure: how far that scatters is not known, so it has no range."))
        )
    return distinct(doubts)


def _of_other_tasks(cells: Cells, nodes: int) -> dict[int, KnownAmount]:
    """Return {tasks in all: amount} of nodes with other numbers of tasks on each: more nodes may have more.

    Each is limited by itself or by what all share, so what as many tasks get on other nodes lies between.
    """
    doubt = Message(_("Measured with another number of tasks on each node."))
    amounts: dict[int, KnownAmount] = {}
    for (clients, own), known in sorted(cells.items(), key=lambda item: abs(math.log(item[0][0] / nodes))):
        part, amount = nodes / clients, known.amount
        wide = replace(amount, low=amount.low * min(part, 1.0), high=amount.high * max(part, 1.0))
        amounts.setdefault(clients * own, KnownAmount(wide, BEYOND, (doubt, *known.doubts)))
    return amounts


def _between(amounts: Mapping[int, Amount], below: int, above: int, tasks: int) -> Predicted:
    """Return the rate on the line between two measured counts; it may be as either of them."""
    first, second = amounts[below], amounts[above]
    share = (tasks - below) / (above - below)
    text = _("Between %(below)s and %(above)s tasks, which were measured.")
    return Predicted(
        value=first.value + share * (second.value - first.value),
        low=min(first.low, second.low),
        high=max(first.high, second.high),
        basis=BETWEEN,
        trials=tuple(sorted({*first.trials, *second.trials})),
        n=min(first.n, second.n),
        why=(Message(text, {"below": below, "above": above}),),
    )


def _under(amounts: Mapping[int, Amount], above: int, tasks: int, *, grows: bool, falls: bool) -> Predicted:
    """Return the rate of fewer tasks than were measured: at least in proportion, more if it falls with them."""
    nearest, part = amounts[above], tasks / above
    reasons = (Message(_FEWER, {"count": above}),)
    doubts: tuple[Message, ...] = (Message(_BEYOND),)
    if falls:
        # How much more nobody knows.
        doubts = (*doubts, Message(_FALLS))
        low, high = nearest.low * part, nearest.high / part
        return Predicted(nearest.value, low, high, BEYOND, nearest.trials, nearest.n, reasons, doubts)
    further = min((count for count in amounts if count > above), default=None)
    is_growing = grows or (
        further is not None and amounts[further].value / nearest.value >= PROPORTIONAL * further / above
    )
    if is_growing:
        text = _("Fewer tasks than the %(count)s measured: the rate grows with them, so it is their share.")
        low, high = nearest.low * part * (1 - LOOSE), nearest.high * min(part * (1 + LOOSE), 1.0)
    else:
        text = _("Fewer tasks than the %(count)s measured: from their share up to all of it.")
        low, high = nearest.low * part, nearest.high
    reasons = (Message(text, {"count": above}),)
    return Predicted(nearest.value * part, low, high, BEYOND, nearest.trials, nearest.n, reasons, doubts)


def _over(amounts: Mapping[int, Amount], tasks: int, *, grows: bool, falls: bool) -> Predicted:
    """Return the rate of more tasks than were measured: the plateau if there is one, else what may be had.

    One figure is no plateau, and of what is printed to fall nothing is sure.
    """
    counts = sorted(amounts)
    largest = amounts[counts[-1]]
    best = max(amount.value for amount in amounts.values())
    doubts: tuple[Message, ...] = (Message(_BEYOND),)
    trials, n = largest.trials, largest.n
    if falls:
        reasons = (Message(_("More tasks than the %(count)s measured."), {"count": counts[-1]}),)
        doubts = (*doubts, Message(_FALLS))
        return Predicted(largest.value, 0.0, largest.high, BEYOND, trials, n, reasons, doubts)
    if len(counts) > 1 and largest.value < PLATEAU * best:
        text = _("The rate fell towards %(count)s tasks, the largest number measured: more may get less still.")
        reasons = (Message(text, {"count": counts[-1]}),)
        return Predicted(largest.value, 0.0, largest.high, BEYOND, trials, n, reasons, doubts)
    on_plateau = [count for count in counts if amounts[count].value >= PLATEAU * best]
    if len(on_plateau) > 1:
        text = _("From %(count)s tasks on, at the latest, the rate grew no more.")
        reasons = (Message(text, {"count": on_plateau[0]}),)
        low, high = (1 - LOOSE) * largest.low, (1 + LOOSE) * largest.high
        return Predicted(largest.value, low, high, BEYOND, trials, n, reasons, doubts)
    part = tasks / counts[-1]
    text = _("More tasks than the %(count)s measured: the rate was still growing.")
    is_growing = len(counts) > 1 or grows
    value = largest.value * part if is_growing else largest.value
    reasons = (Message(text if is_growing else _("More tasks than the %(count)s measured."), {"count": counts[-1]}),)
    low = (1 - LOOSE) * largest.low if len(counts) > 1 else 0.0
    return Predicted(value, low, largest.high * part, BEYOND, trials, n, reasons, doubts)
