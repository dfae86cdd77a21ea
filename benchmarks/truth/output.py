"""The figures as tables of plain text."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED
from benchmarks.truth.tally import SURE, Tally, wrong_share
from benchmarks.truth.worlds.base import Cell, World
from benchmarks.truth.worlds.draw import world_of

COLUMNS = (TRUE, FALSE, HARMFUL, UNDECIDED)
# Coverage is told by so many figures, least to most.
SPANS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 9), (10, 19), (20, 1000))


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
    for (source, rule), counts in sorted(tally.by_rule.items()):
        yield _row(f"{source}: {rule}", sum(counts.values()), *(counts[name] for name in COLUMNS), _percent(counts))
    yield from _table("noise", tally.traits)
    yield from _table("confidence from", {f"{band:g}": counts for band, counts in sorted(tally.bands.items())})
    sure: Counter[str] = sum((counts for band, counts in tally.bands.items() if band >= SURE), Counter())
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
    """Yield where a rule was wrong: seed, what it said, why that is false, and what was measured there."""
    yield ""
    wanted = [
        item for name, items in tally.wrong.items() if rule in (name, name.partition(": ")[2]) for item in items
    ]
    for item in wanted[:most]:
        words = item.title.get("msgid", "") if item.title else ""
        yield f"{item.family} {item.seed} {item.outcome} ({item.confidence}) {item.subject}: {item.why}"
        if words:
            yield f"    {words} {item.title.get('params', {})}"
        yield from evidence(world_of(item.seed, item.family))


def evidence(world: World) -> Iterator[str]:
    """Yield what a team knows of a world: noise, links as described, and the means measured beside the truth."""
    noise = f"{world.noise.kind} noise, CV {100 * world.noise.cv:g} %, n = {world.repetitions}"
    yield f"    {', '.join([noise, *world.traits])}"
    links = [f"{link.name} {link.capacity_bps or '?'} bit/s, {link.rtt_s or '?'} s" for link in world.links]
    yield f"    stated: {'; '.join(links) or 'no links'}"
    for setup in world.setups:
        yield f"    {setup.name} ({setup.tool} {setup.file_system})"
        for cell in setup.cells:
            flags = sorted({name for trial in cell.trials for name, *_rest in trial.flags})
            means = [f"{name} {_mean(cell, name):.4g} (true {truth:.4g})" for name, truth in cell.truth.items()]
            swept = {name: cell.parameters[name] for name in setup.factors}
            yield f"        {swept or ''} {', '.join(means)} {' '.join(flags)}"


def _mean(cell: Cell, metric: str) -> float:
    return sum(trial.figures[metric] for trial in cell.trials) / len(cell.trials)


def _expected(tally: Tally) -> Iterator[str]:
    if not tally.expected:
        return
    number = sum(counts["said"] for counts in tally.expected.values())
    due = sum(sum(counts.values()) for counts in tally.expected.values())
    yield ""
    yield f"conclusions that the evidence suffices for: {due}, of which found {100 * number / due:.1f} %"
    for name, counts in sorted(tally.expected.items()):
        yield _row(f"  {name}", sum(counts.values()), counts["said"], "missed", counts["missed"])


def _coverage(tally: Tally) -> Iterator[str]:
    """Yield how many intervals in a hundred held the truth, how sure that is, and of how many, by n and noise."""
    kinds = sorted({kind for kind, _n, _noise in tally.coverage})
    noises = sorted({noise for _kind, _n, noise in tally.coverage})
    for kind in kinds:
        yield ""
        yield _row(f"coverage of {kind}", *noises)
        for least, most in SPANS:
            cells = [
                [
                    world
                    for key, own in tally.coverage.items()
                    if _is_of(key, kind, least, most, noise)
                    for world in own
                ]
                for noise in noises
            ]
            if any(cells):
                name = f"n = {least}" if least == most else f"n = {least} to {most}"
                yield _row(f"  {name}", *map(_held, cells))


def _is_of(key: tuple[str, int, str], kind: str, least: int, most: int, noise: str) -> bool:
    return key[0] == kind and least <= key[1] <= most and key[2] == noise


def _held(worlds: Sequence[tuple[int, int]]) -> str:
    """Return the share in percent with its standard error, and of how many; intervals of one world are no many."""
    if not worlds:
        return ""
    of = sum(count for _held, count in worlds)
    share = sum(held for held, _count in worlds) / of
    error = math.sqrt(sum((held - share * count) ** 2 for held, count in worlds)) / of
    return f"{100 * share:.0f}±{100 * error:.0f} ({of})"


def _table(name: str, rows: dict[str, Counter[str]]) -> Iterator[str]:
    yield ""
    yield _row(name, "said", *COLUMNS, "wrong")
    for key, counts in sorted(rows.items()):
        yield _row(key, sum(counts.values()), *(counts[column] for column in COLUMNS), _percent(counts))


def _counted(counts: Counter[str]) -> str:
    wrong = f"{counts[FALSE]} false, {counts[HARMFUL]} harmful, {_percent(counts)} wrong"
    return f"{wrong}, {counts[UNDECIDED]} not decidable"


def _percent(counts: Counter[str]) -> str:
    return f"{100 * wrong_share(counts):.1f} %"


def _row(first: str, *cells: object) -> str:
    return f"{first:<48}" + "".join(f" {cell!s:>14}" for cell in cells)
