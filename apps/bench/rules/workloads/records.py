"""What a file system gives with records of a size: as measured, between two sizes, or beyond them."""

import math
from collections.abc import Mapping
from dataclasses import replace

from apps.bench.rules.storage.records import NEAR, find_wait
from apps.bench.rules.workloads.amounts import Amount
from apps.bench.rules.workloads.bases import BETWEEN, BEYOND, LOOSE, PLATEAU, KnownAmount
from apps.bench.rules.workloads.belief import distinct
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Record sizes within this factor are one: a MB and a MiB.
LIKE = 1.05


def at_record(records: Mapping[int | None, Amount], record: int | None) -> KnownAmount:
    """Return the amount at a record size (B); of a workload that names none, whatever is best."""
    by_size = {size: amount for size, amount in records.items() if size}
    if record is None:
        return KnownAmount(max(records.values(), key=lambda amount: amount.value))
    if not by_size:
        doubt = Message(_("With records of which size it was measured is not known."))
        amount = max(records.values(), key=lambda amount: amount.value)
        return KnownAmount(replace(amount, low=0.0), BEYOND, (doubt,))
    nearest = min(by_size, key=lambda size: _factor(size, record))
    factor = _factor(nearest, record)
    if factor <= LIKE:
        own = by_size[nearest]
        return KnownAmount(replace(own, low=own.low / factor, high=own.high * factor))
    below = max((size for size in by_size if size < record), default=None)
    above = min((size for size in by_size if size > record), default=None)
    if below and above:
        return KnownAmount(_between(by_size, below, above, record), BETWEEN)
    return _beyond(by_size, nearest, record)


def _factor(size: int, record: int) -> float:
    return max(size / record, record / size)


def _between(by_size: Mapping[int, Amount], below: int, above: int, record: int) -> Amount:
    """Return the amount on the law of single records X = b / (T + b / C) through its neighbours, or through all.

    Where all sizes follow the law it is hardly further off than they are; else it may be as either neighbour.
    """
    first, second = by_size[below], by_size[above]
    low, high = min(first.low, second.low), max(first.high, second.high)
    wait = find_wait({size: amount.value for size, amount in by_size.items()})
    if wait:
        value = record / (wait.latency + record / wait.rate)
        # A limit that several share bends the law between two sizes more than at them.
        off = 2 * NEAR + max(_scatter(first), _scatter(second))
        low, high = max(low, value * (1 - off)), min(high, value * (1 + off))
    else:
        # b / X is linear in b.
        share = (record - below) / (above - below)
        value = record / (below / first.value * (1 - share) + above / second.value * share)
    return Amount(
        value=value,
        low=min(low, value),
        high=max(high, value),
        trials=tuple(sorted({*first.trials, *second.trials})),
        n=min(first.n, second.n),
        is_bimodal=first.is_bimodal or second.is_bimodal,
        doubts=distinct((*first.doubts, *second.doubts)),
    )


def _scatter(amount: Amount) -> float:
    return max(amount.value - amount.low, amount.high - amount.value) / amount.value if amount.value else 0.0


def _beyond(by_size: Mapping[int, Amount], nearest: int, record: int) -> KnownAmount:
    """Return the amount beyond all sizes: a plateau goes on, growth at most as before, of a fall nothing is sure."""
    amount = by_size[nearest]
    text = _("Measured with records of %(size)s, not of %(wanted)s.")
    doubt = Message(text, {"size": format_quantity(nearest, "B"), "wanted": format_quantity(record, "B")})
    if record < nearest:
        # What each record waits for takes a larger share of smaller ones, at most all of it; a plateau ends, too.
        low, high = amount.low * record / nearest, amount.high * (1 + LOOSE)
        return KnownAmount(replace(amount, low=low, high=high), BEYOND, (doubt,))
    values = [item.value for item in by_size.values()]
    if len(by_size) > 1 and min(values) >= PLATEAU * max(values):
        return KnownAmount(replace(amount, low=amount.low * (1 - LOOSE), high=amount.high * (1 + LOOSE)), BEYOND)
    has_fallen = amount.value < PLATEAU * max(values)
    low = 0.0 if has_fallen else amount.low * (1 - LOOSE)
    high = amount.high * (record / nearest) ** _most_growth(by_size) * (1 + LOOSE)
    return KnownAmount(replace(amount, low=low, high=high), BEYOND, (doubt,))


def _most_growth(by_size: Mapping[int, Amount]) -> float:
    """Return the exponent with which the rate may grow on with the size: that of the last step, 1 without one."""
    if len(by_size) < 2:
        return 1.0
    below, largest = sorted(by_size)[-2:]
    low, high = by_size[below].low, by_size[largest].high
    return min(max(math.log(high / low) / math.log(largest / below), 0.0), 1.0) if low > 0 else 1.0
