"""The figures as tables of plain text."""

from collections import Counter
from collections.abc import Iterator

from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED
from benchmarks.truth.tally import SURE, Tally, wrong_share

COLUMNS = (TRUE, FALSE, HARMFUL, UNDECIDED)


def progress(tally: Tally, worlds: int, elapsed_s: float) -> str:
    """Return a line on how far it is, how fast, and how long the rest takes."""
    rate = tally.worlds / elapsed_s
    left = (worlds - tally.worlds) / rate
    return f"{tally.worlds} of {worlds} worlds, {rate:.2f} a second, {left:.0f} s left"


def tables(tally: Tally) -> Iterator[str]:
    """Yield the lines of all tables."""
    total = tally.total
    yield f"{tally.worlds} worlds, {sum(total.values())} statements: {_counted(total)}"
    yield f"in clean worlds (n >= 3, CV <= 4 %): {_counted(tally.clean)}"
    for line in tally.failures:
        yield f"FAILED: {line}"
    yield ""
    yield _row("statement", "said", *COLUMNS, "wrong")
    for (source, rule), found in sorted(tally.by_rule.items()):
        yield _row(f"{source}: {rule}", sum(found.values()), *(found[name] for name in COLUMNS), _percent(found))
    yield from _table("noise", tally.traits)
    yield from _table("confidence from", {f"{band:g}": found for band, found in sorted(tally.bands.items())})
    sure: Counter[str] = sum((found for band, found in tally.bands.items() if band >= SURE), Counter())
    if sure:
        yield f"of those said at {SURE:g} or more {100 * (1 - wrong_share(sure)):.1f} % hold"
    yield ""
    yield f"contradictions: {sum(tally.contradictions.values())}"
    for name, count in tally.contradictions.most_common():
        yield _row(f"  {name}", count)
    yield from _expected(tally)
    yield from _coverage(tally)
    yield ""
    for item in tally.changes:
        yield _row(f"change-points: {item.name}", f"{item.percent:.1f} %", f"({item.goal})")


def places(tally: Tally, rule: str, most: int) -> Iterator[str]:
    """Yield where a rule was wrong: seed, what it said, and why that is false."""
    yield ""
    wanted = [
        item for name, found in tally.wrong.items() if rule in (name, name.partition(": ")[2]) for item in found
    ]
    for item in wanted[:most]:
        words = item.title.get("msgid", "") if item.title else ""
        yield f"{item.family} {item.seed} {item.outcome} ({item.confidence}) {item.subject}: {item.why}"
        if words:
            yield f"    {words} {item.title.get('params', {})}"


def _expected(tally: Tally) -> Iterator[str]:
    if not tally.expected:
        return
    said = sum(found["said"] for found in tally.expected.values())
    due = sum(sum(found.values()) for found in tally.expected.values())
    yield ""
    yield f"conclusions that the evidence suffices for: {due}, of which found {100 * said / due:.1f} %"
    for name, found in sorted(tally.expected.items()):
        yield _row(f"  {name}", sum(found.values()), found["said"], "missed", found["missed"])


def _coverage(tally: Tally) -> Iterator[str]:
    if not tally.coverage:
        return
    kinds = sorted({kind for kind, _n, _noise in tally.coverage})
    noises = sorted({noise for _kind, _n, noise in tally.coverage})
    for kind in kinds:
        yield ""
        yield _row(f"coverage of {kind}, by n", *noises)
        for n in sorted({n for own, n, _noise in tally.coverage if own == kind}):
            yield _row(f"  n = {n}", *(_held(tally.coverage.get((kind, n, noise))) for noise in noises))


def _held(found: Counter[bool] | None) -> str:
    return f"{100 * found[True] / sum(found.values()):.0f} ({sum(found.values())})" if found else ""


def _table(name: str, rows: dict[str, Counter[str]]) -> Iterator[str]:
    yield ""
    yield _row(name, "said", *COLUMNS, "wrong")
    for key, found in sorted(rows.items()):
        yield _row(key, sum(found.values()), *(found[column] for column in COLUMNS), _percent(found))


def _counted(found: Counter[str]) -> str:
    return (
        f"{found[FALSE]} false, {found[HARMFUL]} harmful, {_percent(found)} wrong, {found[UNDECIDED]} not decidable"
    )


def _percent(found: Counter[str]) -> str:
    return f"{100 * wrong_share(found):.1f} %"


def _row(first: str, *cells: object) -> str:
    return f"{first:<44}" + "".join(f"{cell!s:>14}" for cell in cells)
