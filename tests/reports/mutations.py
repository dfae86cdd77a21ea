"""Documents with every kind of sentence that reports print, each with its table, and tables changed at random."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from django.utils import translation

from apps.bench import units
from apps.bench.statistics import Mean, mean_of
from apps.reports.campaign import sentences
from apps.reports.campaign.grounds import GROUNDS
from apps.reports.campaign.sentences import FigureLine, FigureTopic
from apps.reports.claims import counted, grounded, loads, overall, several, titles, topics, words
from apps.reports.document import Claim, Column, Document, Paragraph, Section, Sentence, Table, Topic
from tests.reports import tables

Told = tuple[Table, Sequence[Sentence]]
FACTORS = (0.3, 0.7, 0.94, 0.97, 1.0, 1.03, 1.06, 1.5, 4.0)
_NUMBER = ("Goodput", "Mbit/s", "number")


def cases(seed: int, each: int) -> Iterator[tuple[Document, Document, Table]]:
    """Yield documents of every maker, as told and with their table changed, and the changed table."""
    chance = random.Random(seed)
    for make in MAKERS:
        for number in range(each):
            language = ("en", "ko")[number % 2]
            with translation.override(language):
                table, said = make(chance)
            changed = mutated(table, chance)
            yield document(table, said, language), document(changed, said, language), changed


def document(table: Table, said: Sequence[Sentence], language: str) -> Document:
    """Return a document that says something of a table."""
    section = Section("results", "Results", (Paragraph(tuple(said)), table))
    return Document("campaign", "Windows", "", language, (section,))


def mutated(table: Table, chance: random.Random) -> Table:
    """Return the table with something of it changed: a cell, the figures behind it, both, a name, two rows, a row."""
    rows = [list(row) for row in table.rows]
    figures = {name: [list(row) for row in column] for name, column in (table.figures or {}).items()}
    numbers = [place for place, column in enumerate(table.columns) if column.kind == "number"]
    names = [place for place in range(len(table.columns)) if place not in numbers]
    at, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    column = chance.choice(numbers) if numbers else 0
    behind, factor = figures.get(str(column)), chance.choice(FACTORS)
    if table.key == GROUNDS and chance.random() < 0.5:
        # Its cells are texts, behind which stand figures.
        behind = figures[chance.choice(list(figures))]
    kind = chance.choice(("cell", "figures", "both", "both", "swap", "less", "more", "trifle", "name"))
    if kind in ("cell", "both") and numbers:
        rows[at][column] *= factor
    if kind in ("figures", "both") and behind:
        behind[at] = [value * factor for value in behind[at]]
    if kind == "swap" and numbers:
        for lists in (rows, *([behind] if behind else [])):
            one, two = lists[at], lists[other]
            if lists is rows:
                one[column], two[column] = two[column], one[column]
            else:
                lists[at], lists[other] = two, one
    if kind == "less" and len(rows) > 2:
        for lists in (rows, *figures.values()):
            del lists[at]
    if kind == "more":
        for lists in (rows, *figures.values()):
            lists.append(list(lists[at]))
        rows[-1] = [f"{cell}0" if place in names else cell for place, cell in enumerate(rows[-1])]
    if kind == "trifle" and numbers:
        rows[at][column] *= 1 + 1e-12
    if kind == "name" and names:
        place = chance.choice(names)
        rows[at][place] = chance.choice(("another", rows[other][place]))
    return replace(table, rows=tuple(map(tuple, rows)), figures=figures)


def of_lines(chance: random.Random) -> Told:
    """Return what is said of one to three lines over numbers."""
    table = tables.table(tables.drawn(chance))
    better, ceiling = chance.choice(("higher", "higher", "lower")), chance.choice((None, 9e8))
    return table, sentences.of(tables.shown(table, better=better, ceiling=ceiling), table)


def of_plateau(chance: random.Random) -> Told:
    """Return what is said of a line that levels off."""
    top = chance.uniform(300, 900)
    heights = [min(top, 0.35 * top * 2**place) for place in range(chance.randint(5, 7))]
    line = [[height * (1 + chance.gauss(0, 0.003)) for _n in range(5)] for height in heights]
    table = tables.table([line])
    return table, sentences.of(tables.shown(table), table)


def of_places(chance: random.Random) -> Told:
    """Return what is said of places that are words."""
    lines = tables.drawn(chance)[:1]
    table = tables.table(lines)
    table = replace(table, figures={str(tables.GOODPUT): (table.figures or {})[str(tables.GOODPUT)]})
    better = chance.choice(("higher", "lower", ""))
    topic = Topic(table.key, of=tables.GOODPUT, by=(tables.STREAMS,), unit="bit/s", metric="Goodput", better=better)
    return table, sentences.of(FigureTopic(topic, [FigureLine("")], ceiling=chance.choice((None, 9e8))), table)


def of_one(chance: random.Random) -> Told:
    """Return what is said of a single place."""
    rate = chance.uniform(700, 1200)
    table = tables.table([[[rate * (1 + chance.gauss(0, 0.002)) for _n in range(4)]]])
    return table, sentences.of(tables.shown(table, ceiling=9e8), table)


def of_baseline(chance: random.Random) -> Told:
    """Return what is said of a campaign beside a baseline."""
    # All settings have changed, by far or so little that only all of them together show it; or some, or none.
    count, scatter, times = chance.randint(2, 8), *chance.choice(((1, 0.7), (1, 1.4), (5, 0.93), (5, 1.08), (5, 1.0)))
    changed = chance.choice((count, count, chance.randint(1, count)))
    before = [[chance.gauss(100, scatter) for _n in range(3)] for _row in range(count)]
    after = [
        [(times if row < changed else 1.0) * chance.gauss(100, scatter) for _n in range(3)] for row in range(count)
    ]
    rows = tuple(
        (str(place), sum(one) / 3, sum(two) / 3, sum(two) / sum(one))
        for place, (one, two) in enumerate(zip(before, after, strict=True))
    )
    rates = [Column(title, *_NUMBER[1:]) for title in ("Before", "After")]
    columns = (Column("Window"), *rates, Column("Ratio", kind="number"))
    table = Table("baseline", "Baseline", columns, rows, figures={"1": before, "2": after})
    claims = overall.tell(Topic(table.key, of=3, by=(1, 2), metric="Goodput"), table)
    return table, [words.sentence(claim) for claim in claims]


def of_pairs(chance: random.Random) -> Told:
    """Return what is said of pairs of sites, with a ceiling or without."""
    rows = tuple(
        (f"site{place}", "Busan", chance.uniform(100, 900), chance.uniform(5, 99))
        for place in range(chance.randint(2, 6))
    )
    columns = Column("From"), Column("To"), Column(*_NUMBER), Column("Best of ceiling", "%", "number")
    table = Table("pairs", "Pairs", columns, rows)
    topic = Topic(table.key, of=2, by=(0, 1), unit="bit/s")
    places, share = topics.places_of(topic, table), chance.choice((0, 3))
    claims = several.pairs(topic, places, share, several.shares_of(places, share) if share else {})
    return table, [words.sentence(claim) for claim in claims]


def of_ends(chance: random.Random) -> Told:
    """Return that measurements are of different ends, which two rows have."""
    rows = tuple((name, chance.uniform(1, 9)) for name in ("a → b", "c → d"))
    table = Table("alone", "Alone", (Column("Nodes"), Column(*_NUMBER)), rows)
    return table, [words.sentence(Claim(words.UNLIKE, Topic(table.key, of=1, by=(0,))))]


def of_rows(chance: random.Random) -> Told:
    """Return sentences that count rows and quote a cell."""
    states = [chance.choice(("new", "verified")) for _row in range(chance.randint(2, 6))]
    rows = tuple((f"n{place}", state, chance.uniform(1, 4)) for place, state in enumerate(states))
    table = Table("states", "States", (Column("No."), Column("State"), Column("Gain", kind="number")), rows)
    known, name, gain = states.count("verified"), *chance.choice([(str(row[0]), f"{row[2]:.3g}") for row in rows])
    total, top = round(sum(row[2] for row in rows)), max(rows, key=lambda row: row[2])
    return table, [
        counted.count(f"{len(rows)} changes are recommended", len(rows), table.key),
        counted.count(f"{known} were verified", known, table.key, (1, "verified")),
        counted.quote(f"predicted gain ×{gain}", table.key, 2, name, gain),
        counted.cells(
            f"It is {states[int(name[1:])]}, gain ×{gain}", table.key, name, {1: states[int(name[1:])], 2: gain}
        ),
        counted.rows(
            f"{name} has {gain}, n0 {rows[0][2]:.3g}", table.key, 2, {name: gain, "n0": f"{rows[0][2]:.3g}"}
        ),
        counted.most(f"Most has {top[0]}: {top[2]:,}", table.key, 2, str(top[0]), f"{top[2]:,}"),
        counted.sums(f"{len(rows)} rows come to {total:,}", table.key, {-1: len(rows), 2: total}),
    ]


def of_grounds(chance: random.Random) -> Told:
    """Return what is said of what findings rest on: present and predicted figures, and the gain."""
    rows, behind, said = [], {"1": [], "2": []}, []
    for place in range(chance.randint(2, 4)):
        name, kinds = f"{place + 1}", (chance.choice(list(Mean)), Mean.ARITHMETIC)
        now = [chance.uniform(100e6, 200e6) for _n in range(chance.randint(1, 4))]
        then = [chance.uniform(100e6, 900e6)]
        found = [mean_of(figures, kind) for figures, kind in zip((now, then), kinds, strict=True)]
        texts, gain = [units.format_quantity(mean, "bit/s") for mean in found], found[1] / found[0]
        rows.append((name, *texts, gain))
        behind["1"].append(now)
        behind["2"].append(then)
        for column, (text, kind, figures) in enumerate(zip(texts, kinds, (now, then), strict=True), start=1):
            n = len(figures)
            said.append(grounded.figure(f"It is {text}.", GROUNDS, column, name, text, kind, n, "bit/s"))
        said.append(grounded.gain(f"gain ×{gain:.3g}", GROUNDS, (1, 2, 3), name, f"{gain:.3g}", kinds))
    columns = Column("No."), Column("At present"), Column("Predicted"), Column("Gain", kind="number")
    return Table(GROUNDS, "Grounds", columns, tuple(rows), figures=behind), said


def of_titles(chance: random.Random) -> Told:
    """Return what titles of findings say: a value, measured or reckoned, and what stands in no other column."""
    rows, behind, said = [], {"2": []}, []
    for place in range(chance.randint(2, 4)):
        name, kind = f"{place + 1}", chance.choice(list(Mean))
        value = [chance.uniform(100e6, 900e6) for _n in range(chance.choice((1, 3)))]
        rate, others = units.format_quantity(mean_of(value, kind), "bit/s"), (f"{chance.randint(2, 64)} KiB", "×1.25")
        rows.append((name, "Set the window", rate, "; ".join(others)))
        behind["2"].append(value)
        cells = {2: titles.TitleCell(rate, "bit/s", kind), 3: titles.TitleCell("; ".join(others))}
        claim = titles.claim_of(GROUNDS, name, cells)
        assert claim
        said.append(Sentence(f"{others[0]} carry {rate}, {others[1]} of what there is", claim))
    columns = Column("No."), Column("Finding"), Column("Value"), Column("Also in the title")
    return Table(GROUNDS, "Grounds", columns, tuple(rows), figures=behind), said


def of_loads(chance: random.Random) -> Told:
    """Return what is said of offered loads: how much is lost, and where the knee lies."""
    carried = chance.uniform(200, 700)
    rates = sorted(chance.sample(range(100, 1000, 50), chance.randint(4, 8)))
    lost = [100 * max(0.0, 1 - carried / rate) * (1 + chance.gauss(0, 0.01)) for rate in rates]
    rows = tuple(("", float(rate), share, "") for rate, share in zip(rates, lost, strict=True))
    # Some loads lost nothing in two runs of three.
    runs = [chance.choice(([3 * share, 0.0, 0.0], [share] * 3)) if share < 30 else [share] * 3 for share in lost]
    columns = Column("Sweep"), Column("Offered load", "Mbit/s", "number"), Column("Loss", "%", "number")
    table = Table("loads-1", "Loads", (*columns, Column("Held by an end")), rows, figures={"2": runs})
    return table, loads.tell(table, "")


MAKERS: tuple[Callable[[random.Random], Told], ...] = (
    of_lines, of_lines, of_plateau, of_places, of_places, of_one, of_baseline, of_pairs, of_ends, of_rows, of_grounds,
    of_titles, of_loads,
)  # fmt: skip
