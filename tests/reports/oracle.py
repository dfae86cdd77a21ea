"""Whether a sentence is true of a table, told without a line of the product's checking."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from apps.bench import comparison, curve, statistics, units
from apps.bench.curve import CurveForm
from apps.bench.network import loss_curve
from apps.bench.network.loss_curve import LoadPoint
from apps.reports.claims import counted, grounded, loads, overall, titles, words
from apps.reports.document import Sentence, Table
from tests.reports.tables import GOODPUT, MBIT, STREAMS, WINDOW


def text(value: float) -> str:
    return units.format_quantity(value * MBIT, "bit/s")


def places_of(said: Sentence, table: Table) -> list[tuple[float, str, float, list[float]]]:
    """Return (x, name, mean, figures) of the rows that a sentence means, in their order, read by hand."""
    wanted = dict(said.claim.topic.rows)
    numbers = table.figures.get(str(STREAMS)) or [[0.0] for _row in table.rows]
    found = [
        (number[0], str(row[STREAMS]), float(str(row[GOODPUT])), list(figures))
        for row, number, figures in zip(table.rows, numbers, table.figures[str(GOODPUT)], strict=True)
        if all(row[column] == value for column, value in wanted.items())
    ]
    return sorted(found, key=lambda place: place[0])


def of_lines(said: Sentence, table: Table) -> bool:
    """Return whether a sentence about the places of one line or several is true of a table."""
    says, relation, better = said.claim.says, said.claim.relation, said.claim.topic.better
    places = places_of(said, table)
    if not places:
        return False
    xs, names, means, groups = ([place[n] for place in places] for n in range(4))
    if len(set(names)) < len(names) and relation not in _OF_ALL:
        # Nobody can tell which of two places of one name is meant.
        return False
    sign = {"higher": True, "lower": False}.get(better)
    if relation == words.VALUE:
        return len(places) == 1 and says["value"] == text(means[0])
    if relation in (words.CEILING, words.INVENTORY, words.ABOVE):
        part = max(means) * MBIT / float(str(says["drawn"]))
        named = words.INVENTORY if part < 0.9 else words.CEILING if part <= 1.02 else words.ABOVE
        if named == words.ABOVE:
            highest, top = max(zip(means, groups, strict=True), key=lambda pair: pair[0])
            mean, interval = statistics.mean_interval(top)
            # Of a cell that is no mean of its figures nobody knows how sure it is.
            if (
                abs(mean - highest) > 1e-9 * highest
                or interval is None
                or interval.low * MBIT <= 1.02 * float(str(says["drawn"]))
            ):
                return False
        if named == words.ABOVE:
            return relation == named and says["value"] == text(max(means))
        return relation == named and says["share"] == f"{min(100 * part, 100):.0f}"
    alike = curve.read_places(groups, centres=means, higher_is_better=sign) if len(places) > 1 else None
    if alike is None:
        return False
    if relation in (words.BEST, words.TOP):
        return _is_best(said, table, better, alike)
    if not said.claim.topic.axis or len(set(xs)) < len(xs):
        return _is_of_places(said, names, means, alike)
    whole = curve.read_curve(xs, groups, centres=means, higher_is_better=sign)
    falls = all(b <= 1.05 * a for a, b in pairwise(means))
    whole = alike if whole.form is CurveForm.FALLS and not falls else whole
    reading = alike if relation in _EXTREMES else whole
    if relation in (words.GROWS, words.FALLS):
        reading = curve.read_curve(xs, groups, centres=means, higher_is_better=None)
    if not _is_tested(said, reading):
        return False
    at = dict(zip(names, means, strict=True))
    if relation in (words.FLAT, words.MEASURED):
        form = CurveForm.FLAT if relation == words.FLAT else CurveForm.UNTOLD
        named = relation == words.FLAT or (at.get(says["low_at"]), at.get(says["high_at"])) == (
            min(means),
            max(means),
        )
        return reading.form is form and named and (says["low"], says["high"]) == (text(min(means)), text(max(means)))
    if relation == words.LEVELS_OFF:
        start = names.index(says["at"]) if says["at"] in names else len(names)
        level = sum(means[start:]) / len(means[start:]) if means[start:] else 0.0
        near = all(abs(value - level) <= 0.05 * level for value in means[start:])
        return (
            reading.form is CurveForm.LEVELS_OFF
            and reading.start == start
            and near
            and says["plateau"] == text(level)
        )
    if relation in (words.GROWS, words.FALLS):
        step = [b / a for a, b in pairwise(means)]
        goes = all(s > 0.95 for s in step) if relation == words.GROWS else all(s < 1.05 for s in step)
        ends = (says["first_at"], says["first"], says["last_at"], says["last"])
        form = CurveForm.GROWS if relation == words.GROWS else CurveForm.FALLS
        are_ends = ends == (names[0], text(means[0]), names[-1], text(means[-1]))
        return goes and reading.form is form and are_ends and _is_ratio(said, means[0], means[-1])
    return _is_extreme(said, names, means, reading)


def _is_of_places(said: Sentence, names: list[str], means: list[float], reading: curve.CurveReading) -> bool:
    """Return whether a sentence is true of places that are words."""
    says, relation = said.claim.says, said.claim.relation
    if not _is_tested(said, reading):
        return False
    if relation in (words.SAME, words.MEASURED):
        at = dict(zip(names, means, strict=True))
        named = relation == words.SAME or (at.get(says["low_at"]), at.get(says["high_at"])) == (
            min(means),
            max(means),
        )
        form = CurveForm.FLAT if relation == words.SAME else CurveForm.UNTOLD
        return reading.form is form and named and (says["low"], says["high"]) == (text(min(means)), text(max(means)))
    return relation in _EXTREMES and _is_extreme(said, names, means, reading)


def _is_tested(said: Sentence, reading: curve.CurveReading) -> bool:
    """Return whether a sentence names the test, its p, and of how many figures the places are that it compares."""
    says = said.claim.says
    p = None if reading.proof.p is None else float(f"{reading.proof.p:.2g}")
    return (says["n"], says["p"], says["test"]) == (reading.proof.n, p, reading.proof.test.value)


def _is_extreme(said: Sentence, names: list[str], means: list[float], reading: curve.CurveReading) -> bool:
    says, relation = said.claim.says, said.claim.relation
    at = dict(zip(names, means, strict=True))
    rivals = ", ".join(names[place] for place in reading.rivals[:4]) + (" …" if len(reading.rivals) > 4 else "")
    return (
        reading.form is CurveForm.BEST
        and (relation in (words.HIGHEST_AT, words.LOWEST_AT)) == (not reading.rivals)
        and says.get("rivals", "") == rivals
        and (at.get(says["low_at"]), at.get(says["high_at"])) == (min(means), max(means))
        and (says["low"], says["high"]) == (text(min(means)), text(max(means)))
        and _is_ratio(said, min(means), max(means))
    )


def _is_ratio(said: Sentence, *ends: float) -> bool:
    """Return whether a sentence says how many times the lower of two figures the other is, unless that is zero."""
    return said.claim.says.get("ratio") == (f"{max(ends) / min(ends):.3g}" if min(ends) > 0 else None)


def _is_best(said: Sentence, table: Table, better: str, reading: curve.CurveReading) -> bool:
    says = said.claim.says
    if len({(row[STREAMS], row[WINDOW]) for row in table.rows}) < len(table.rows):
        return False
    named = [
        float(str(row[GOODPUT]))
        for row in table.rows
        if row[STREAMS] == says["at"] and f"Window {row[WINDOW]}" == says["label"]
    ]
    pick = min if better == "lower" else max
    best = pick(float(str(row[GOODPUT])) for row in table.rows)
    is_alone = reading.form is CurveForm.BEST and not reading.rivals
    return (
        named == [best]
        and says["value"] == text(best)
        and (says["others"], says["rivals"]) == (len(table.rows) - 1, len(reading.rivals))
        and _is_tested(said, reading)
        and is_alone == (said.claim.relation == words.BEST)
    )


def of_columns(said: Sentence, table: Table) -> bool:
    """Return whether what is said of two columns over all rows is true: which is higher, or between which ratios."""
    says, topic = said.claim.says, said.claim.topic
    if said.claim.relation == words.RATIOS:
        ratios = [row[topic.of] for row in table.rows]
        return (says["low"], says["high"]) == (f"{min(ratios):.3g}", f"{max(ratios):.3g}")
    first, second = (table.figures[str(column)] for column in topic.by)
    pairs = list(zip(first, second, strict=True))
    n = min(len(figures) for figures in (*first, *second))
    if (says["settings"], says["n"]) != (len(table.rows), n):
        return False
    verdicts = [item.verdict for item in comparison.contrast(pairs)]
    ways = (comparison.ContrastVerdict.HIGHER, comparison.ContrastVerdict.LOWER)
    up, down = ([row for row, own in zip(table.rows, verdicts, strict=True) if own is way] for way in ways)
    if len(table.rows) in (len(up), len(down)):
        return said.claim.relation == (words.OVERALL_HIGHER if up else words.OVERALL_LOWER)
    if up or down:
        statement = (said.claim.relation, says.get("higher"), says.get("lower"))
        return statement == (words.OVERALL_MIXED, _named(up, table), _named(down, table))
    pooled = statistics.compare_strata(pairs)
    together = words.TOGETHER_HIGHER if pooled.superiority > 0.5 else words.TOGETHER_LOWER
    relation = together if pooled.p <= comparison.ALPHA else words.OVERALL_ALIKE
    own = (relation, float(f"{pooled.p:.2g}"), f"{100 * pooled.superiority:.0f}")
    return own == (said.claim.relation, says["p"], says["share"])


def _named(rows: Sequence[tuple], table: Table) -> str:
    """Return how many rows there are, by the names of their first column where they are few."""
    names = "; ".join(f"{table.columns[0].title} {row[0]}" for row in rows)
    return f"{len(rows)} ({names})" if 0 < len(rows) <= 4 else f"{len(rows)}"


def of_pairs(said: Sentence, table: Table) -> bool:
    """Return whether the pair that is named is the best, or nearest to (farthest from) its ceiling."""
    says = said.claim.says
    if said.claim.relation == words.BEST_PAIR:
        highest = max(row[2] for row in table.rows)
        named = [row[2] for row in table.rows if f"{row[0]} – {row[1]}" == says["pair"]]
        return highest in named and says["value"] == text(highest)
    shares = {f"{row[0]} – {row[1]}": row[3] for row in table.rows}
    ends = (max(shares.values()), min(shares.values()))
    return (shares.get(says["near"]), shares.get(says["far"])) == ends and (says["most"], says["least"]) == tuple(
        f"{end:.0f}" for end in ends
    )


def of_rows(said: Sentence, table: Table) -> bool:
    """Return whether rows are counted right, a cell is quoted right, or rows differ where it is said."""
    claim = said.claim
    if claim.relation == words.UNLIKE:
        return len({tuple(row[column] for column in claim.topic.by) for row in table.rows}) > 1
    rows = [row for row in table.rows if all(str(row[column]) == value for column, value in claim.topic.rows)]
    if claim.relation == counted.COUNT:
        return len(rows) == claim.says["count"]
    if claim.relation == counted.SUMS:
        sums = {"-1": len(table.rows), "2": round(sum(row[2] for row in table.rows))}
        return claim.says == {name: f"{sums[name]:,}" for name in claim.says}
    if claim.relation == counted.ROWS:
        held = {name: [row[2] for row in table.rows if row[0] == name] for name in claim.says}
        return all(len(held[name]) == 1 and f"{held[name][0]:.3g}" == told for name, told in claim.says.items())
    if claim.relation == counted.MOST:
        top = max(row[2] for row in table.rows)
        named = [row[2] for row in table.rows if row[0] == claim.says["at"]]
        return top in named and claim.says["value"] == f"{top:,}"
    if claim.relation == counted.CELLS:
        cells = [f"{cell:.3g}" if isinstance(cell, float) else cell for cell in rows[0]] if len(rows) == 1 else []
        return bool(cells) and all(cells[int(name)] == value for name, value in claim.says.items())
    return len(rows) == 1 and f"{rows[0][claim.topic.of]:.3g}" == claim.says["value"]


def of_grounds(said: Sentence, table: Table) -> bool:
    """Return whether what is said of a finding's figures is what its single figures come to, and its row says."""
    claim, says = said.claim, said.claim.says
    places = [place for place, row in enumerate(table.rows) if row[0] == claim.topic.rows[0][1]]
    if len(places) != 1:
        return False
    cell = table.rows[places[0]][claim.topic.of]
    means = {}
    for column, figures in table.figures.items():
        own = figures[places[0]]
        means[int(column), "arithmetic"] = sum(own) / len(own)
        means[int(column), "harmonic"] = len(own) / sum(1 / figure for figure in own)
    if claim.relation == grounded.FIGURE:
        right = units.format_quantity(means[claim.topic.of, says["mean"]], "bit/s")
        return says["value"] == right == cell
    now, then = (means[column, says[kind]] for column, kind in zip(claim.topic.by, ("now", "then"), strict=True))
    return says["gain"] == f"{then / now:.3g}" == f"{cell:.3g}"


def of_titles(said: Sentence, table: Table) -> bool:
    """Return whether each figure that a title says is its cell, and the mean that it is said to be."""
    says = said.claim.says
    places = [place for place, row in enumerate(table.rows) if row[0] == said.claim.topic.rows[0][1]]
    if len(places) != 1:
        return False
    row, behind = table.rows[places[0]], table.figures["2"][places[0]]
    means = {"arithmetic": sum(behind) / len(behind), "harmonic": len(behind) / sum(1 / figure for figure in behind)}
    rate = units.format_quantity(means[says["2-mean"]], "bit/s")
    size, ratio = row[3].split("; ") if row[3].count("; ") == 1 else ("", "")
    return row[2] == rate and said.text == f"{size} carry {rate}, {ratio} of what there is"


def of_loads(said: Sentence, table: Table) -> bool:
    """Return whether the loads of a table still show what a sentence says, by the figures that it says."""
    runs = (table.figures or {}).get("2") or [()] * len(table.rows)
    points = [
        LoadPoint(row[1] * MBIT, row[2] / 100, is_held=bool(row[3]), losses=tuple(loss / 100 for loss in losses))
        for row, losses in zip(table.rows, runs, strict=True)
        if row[0] == ""
    ]
    # Two figures of one load show nothing.
    is_twice = len({point.offered for point in points}) < len(points)
    if is_twice or not all(point.offered > 0 and point.loss <= 1 for point in points):
        return False
    told = loss_curve.analyse(points)
    known = [{"msgid": message.msgid, **message.params} for message in told.conclusions] if told else []
    return said.claim.says in known


_OF_ALL = (words.BEST, words.TOP, words.CEILING, words.INVENTORY, words.ABOVE)
_EXTREMES = (words.HIGHEST_AT, words.HIGHEST_AMONG, words.LOWEST_AT, words.LOWEST_AMONG)
_LINES = (
    *_OF_ALL, *_EXTREMES, words.VALUE, words.SAME, words.FLAT, words.MEASURED, words.GROWS, words.FALLS,
    words.LEVELS_OFF,
)  # fmt: skip
# {relation: whether a sentence of it is true of a table}: a new kind of sentence needs one.
TRUTH: Mapping[str, Callable[[Sentence, Table], bool]] = {
    **dict.fromkeys(_LINES, of_lines),
    **dict.fromkeys(overall.RELATIONS, of_columns),
    **dict.fromkeys((words.NEAREST, words.BEST_PAIR), of_pairs),
    **dict.fromkeys((words.UNLIKE, *counted.RELATIONS), of_rows),
    **dict.fromkeys(grounded.RELATIONS, of_grounds),
    **dict.fromkeys(loads.RELATIONS, of_loads),
    **dict.fromkeys(titles.RELATIONS, of_titles),
}
