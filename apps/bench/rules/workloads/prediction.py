"""The rate a workload will get of a supply: measured, between what was measured, or beyond it and said to be so."""

from dataclasses import dataclass, replace

from apps.bench.rules.base import Evidence
from apps.bench.rules.layers.links import stated_rate
from apps.bench.rules.storage.records import find_wait
from apps.bench.rules.workloads.described import WRITE, Workload
from apps.bench.rules.workloads.supplies import Amount, Supply, grows
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

MEASURED, BETWEEN, BEYOND = "measured", "between", "beyond"
# Record sizes within this factor are one.
LIKE = 1.5
# Files below this size cost more to create than to fill on most file systems.
SMALL = 64 * 1024**2
# A plateau that goes on beyond what was measured may still fall or grow by this.
LOOSE = 0.25
# From this share of the growth in the number of tasks on the rate grows in proportion.
PROPORTIONAL = 0.7
# A count is on the plateau from this share of the best rate on.
PLATEAU = 0.95


@dataclass(frozen=True)
class Predicted:
    """A rate (B/s) and its range, how it is known (MEASURED, BETWEEN, BEYOND), why, and what makes it doubtful."""

    value: float
    low: float
    high: float
    basis: str
    trials: tuple[int, ...]
    n: int
    why: tuple[Message, ...] = ()
    doubts: tuple[Message, ...] = ()


def predict(evidence: Evidence, supply: Supply, workload: Workload) -> Predicted | None:
    """Return what a workload will get; None where the measurements do not carry it."""
    at_count = _by_count(supply, workload)
    if at_count is None:
        return None
    prediction = _within_network(evidence, supply, workload, _with_files(evidence, supply, workload, at_count))
    if workload.shared and not supply.settings.get("file_per_process") and supply.tool != "ior":
        text = _("Measured with a file for each task; the workload shares one, which may be slower.")
        prediction = replace(prediction, doubts=(*prediction.doubts, Message(text)))
    return prediction


def _by_count(supply: Supply, workload: Workload) -> Predicted | None:
    """Return the rate at the workload's number of nodes and tasks."""
    total = workload.nodes * workload.tasks
    alike = {clients: records for (clients, tasks), records in supply.cells.items() if tasks == workload.tasks}
    doubts: list[Message] = []
    axis = {clients * workload.tasks: records for clients, records in alike.items()}
    if not axis:
        for (clients, tasks), records in sorted(supply.cells.items()):
            axis.setdefault(clients * tasks, records)
        doubts.append(Message(_("Measured with another number of tasks on each node.")))
    amounts: dict[int, Amount] = {}
    for count, records in axis.items():
        amount, doubt = _at_record(records, workload.record_size)
        amounts[count] = amount
        doubts += [doubt] if doubt and doubt not in doubts else []
    counts = sorted(amounts)
    if any(amount.is_bimodal for amount in amounts.values()):
        doubts.append(Message(_("It has two modes: the lower is what can be counted on.")))
    if total in amounts:
        own = amounts[total]
        text = _("Measured with as many tasks (n = %(n)s).")
        reasons = (Message(text, {"n": own.n}),)
        return Predicted(own.value, own.low, own.high, MEASURED, own.trials, own.n, reasons, tuple(doubts))
    below = max((count for count in counts if count < total), default=None)
    above = min((count for count in counts if count > total), default=None)
    if below is not None and above is not None:
        return _between(amounts, below, above, total, doubts)
    if above is not None:
        return _under(supply, amounts, above, total, doubts)
    return _over(supply, amounts, total, doubts) if below is not None else None


def _between(amounts: dict[int, Amount], below: int, above: int, tasks: int, doubts: list[Message]) -> Predicted:
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
        doubts=tuple(doubts),
    )


def _under(
    supply: Supply, amounts: dict[int, Amount], above: int, tasks: int, doubts: list[Message]
) -> Predicted | None:
    """Return the rate of fewer tasks than were measured: at least in proportion."""
    nearest, part = amounts[above], tasks / above
    further = min((count for count in amounts if count > above), default=None)
    is_growing = grows(supply) or (
        further is not None and amounts[further].value / nearest.value >= PROPORTIONAL * further / above
    )
    if is_growing:
        text = _("Fewer tasks than the %(count)s measured: the rate grows with them, so it is their share.")
        low, high = nearest.low * part * (1 - LOOSE), nearest.high * min(part * (1 + LOOSE), 1.0)
    else:
        text = _("Fewer tasks than the %(count)s measured: from their share up to all of it.")
        low, high = nearest.low * part, nearest.high
    doubts = [*doubts, Message(_("It lies beyond what was measured."))]
    reasons = (Message(text, {"count": above}),)
    return Predicted(nearest.value * part, low, high, BEYOND, nearest.trials, nearest.n, reasons, tuple(doubts))


def _over(supply: Supply, amounts: dict[int, Amount], tasks: int, doubts: list[Message]) -> Predicted:
    """Return the rate of more tasks than were measured: the plateau if there is one, else what is sure to be had."""
    counts = sorted(amounts)
    largest = amounts[counts[-1]]
    best = max(amount.value for amount in amounts.values())
    doubts = [*doubts, Message(_("It lies beyond what was measured."))]
    trials, n = largest.trials, largest.n
    if len(counts) > 1 and largest.value < PLATEAU * best:
        text = _("The rate fell towards %(count)s tasks, the largest number measured: more may get less still.")
        reasons = (Message(text, {"count": counts[-1]}),)
        return Predicted(largest.value, 0.0, largest.high, BEYOND, trials, n, reasons, tuple(doubts))
    on_plateau = [count for count in counts if amounts[count].value >= PLATEAU * best]
    if len(on_plateau) > 1:
        text = _("From %(count)s tasks on the rate grew no more.")
        reasons = (Message(text, {"count": on_plateau[0]}),)
        low, high = (1 - LOOSE) * largest.low, (1 + LOOSE) * largest.high
        return Predicted(largest.value, low, high, BEYOND, trials, n, reasons, tuple(doubts))
    part = tasks / counts[-1]
    text = _("More tasks than the %(count)s measured: the rate was still growing.")
    is_growing = len(counts) > 1 or grows(supply)
    value = largest.value * part if is_growing else largest.value
    reasons = (Message(text if is_growing else _("More tasks than the %(count)s measured."), {"count": counts[-1]}),)
    return Predicted(value, largest.low, largest.high * part, BEYOND, trials, n, reasons, tuple(doubts))


def _at_record(records: dict[int | None, Amount], record: int | None) -> tuple[Amount, Message | None]:
    """Return the amount at a record size: measured, by the law of single records, or the nearest with a doubt."""
    by_size = {size: amount for size, amount in records.items() if size}
    if record is None or not by_size:
        return max(records.values(), key=lambda amount: amount.value), None
    nearest = min(by_size, key=lambda size: max(size / record, record / size))
    amount = by_size[nearest]
    if max(nearest / record, record / nearest) <= LIKE:
        return amount, None
    values = [item.value for item in by_size.values()]
    if len(by_size) > 1 and min(values) >= PLATEAU * max(values):
        return amount, None
    wait = find_wait({size: item.value for size, item in by_size.items()})
    if wait and min(by_size) <= record <= max(by_size):
        scale = record / (wait.latency + record / wait.rate) / amount.value
        return Amount(
            amount.value * scale, amount.low * scale, amount.high * scale, amount.trials, amount.n, amount.is_bimodal
        ), None
    text = _("Measured with records of %(size)s, not of %(wanted)s.")
    params = {"size": format_quantity(nearest, "B"), "wanted": format_quantity(record, "B")}
    return replace(amount, low=amount.low / 2), Message(text, params)


def _with_files(evidence: Evidence, supply: Supply, workload: Workload, rate: Predicted) -> Predicted:
    """Return the rate with what creating files costs: 1 / X = 1 / X0 + 1 / (files a second · size)."""
    if workload.file_size >= SMALL or workload.shared:
        return rate
    creations = _creations(evidence, supply.file_system, workload)
    if creations is None:
        text = _("What creating files of %(size)s costs was not measured: small files may be much slower.")
        doubt = Message(text, {"size": format_quantity(workload.file_size, "B")})
        return replace(rate, low=0.0, doubts=(*rate.doubts, doubt))
    creation_rate, trials = creations

    def with_cost(value: float) -> float:
        return 1 / (1 / value + 1 / (creation_rate * workload.file_size)) if value > 0 else 0.0

    text = _("Each file costs its creation, %(rate)s a second in all.")
    return replace(
        rate,
        value=with_cost(rate.value),
        low=with_cost(rate.low),
        high=with_cost(rate.high),
        trials=tuple(sorted({*rate.trials, *trials})),
        why=(*rate.why, Message(text, {"rate": f"{creation_rate:.0f}"})),
    )


def _creations(evidence: Evidence, name: str, workload: Workload) -> tuple[float, tuple[int, ...]] | None:
    """Return how many files a second are made (or opened to read) at most on a file system, and the trials."""
    metrics = ("file_create",) if workload.pattern.endswith(WRITE) else ("file_read", "file_stat")
    for metric in metrics:
        own = [point for point in evidence.points if point.file_system == name]
        rates = [(rate, point.trials(metric)) for point in own if (rate := point.mean(metric)) is not None]
        if rates:
            return max(rates, key=lambda item: item[0])
    return None


def _within_network(evidence: Evidence, supply: Supply, workload: Workload, rate: Predicted) -> Predicted:
    """Return the rate no higher than the network carries for so many nodes, as far as its links are known."""
    facts = evidence.file_systems.get(supply.file_system)
    if not facts or not facts.servers or not supply.ends:
        return rate
    if rate.basis != BEYOND:
        return rate
    ceiling = stated_rate(evidence, supply.ends[: workload.nodes], facts)
    if ceiling and len(supply.ends) < workload.nodes:
        one = stated_rate(evidence, supply.ends[:1], facts) or ceiling
        # Nodes that have measured nothing share what the others share; where these share nothing each has its own.
        is_shared = len(supply.ends) > 1 and ceiling < 1.01 * one
        ceiling *= 1 if is_shared else workload.nodes / len(supply.ends)
    if ceiling is None or rate.high <= ceiling:
        return rate
    text = _("The network carries %(ceiling)s for these nodes, and no more.")
    return replace(
        rate,
        value=min(rate.value, ceiling),
        low=min(rate.low, ceiling),
        high=ceiling,
        why=(*rate.why, Message(text, {"ceiling": format_quantity(ceiling, "B/s")})),
    )
