"""A sentence's claim is asked of the tables again: what became false is caught, what is still true is not refused."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from django.utils import translation

from apps.bench import curve, units
from apps.bench.curve import Form
from apps.reports import serialisation
from apps.reports.claims import checks, counted, overall, words
from apps.reports.document import Claim, Document, Items, Paragraph, Section, Sentence, Table, Topic, walk
from tests.reports import tables
from tests.reports.tables import GOODPUT, MBIT, STREAMS, WINDOW, N

MUTATED = 1_000


def with_table(document: Document, table: Table) -> Document:
    section = document.sections[0]
    return replace(document, sections=(replace(section, blocks=(section.blocks[0], table)),))


def mutated(table: Table, chance: random.Random) -> Table:
    """Return the table with something of it changed: a mean, its figures, both, two rows, a row less, or a trifle."""
    rows = [list(row) for row in table.rows]
    figures = {name: [list(row) for row in column] for name, column in (table.figures or {}).items()}
    behind = figures[str(GOODPUT)]
    at, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    factor = chance.choice((0.3, 0.7, 0.94, 0.97, 1.0, 1.03, 1.06, 1.5, 4.0))
    kind = chance.choice(("mean", "figures", "both", "swap", "less", "trifle", "count"))
    if kind in ("mean", "both"):
        rows[at][GOODPUT] *= factor
    if kind in ("figures", "both"):
        behind[at] = [value * factor for value in behind[at]]
    if kind == "swap":
        rows[at][GOODPUT], rows[other][GOODPUT] = rows[other][GOODPUT], rows[at][GOODPUT]
        behind[at], behind[other] = behind[other], behind[at]
    if kind == "less" and len(rows) > 2:
        for column in (rows, *figures.values()):
            del column[at]
    if kind == "trifle":
        rows[at][GOODPUT] *= 1 + 1e-12
    if kind == "count":
        rows[at][N] += 1
    return replace(table, rows=tuple(map(tuple, rows)), figures=figures)


def text(value: float) -> str:
    return units.format_quantity(value * MBIT, "bit/s")


def places_of(said: Sentence, table: Table) -> list[tuple[float, str, float, list[float]]]:
    """Return (x, name, mean, figures) of the rows that a sentence means, in their order, read by hand."""
    wanted = dict(said.claim.topic.rows)
    found = [
        (numbers[0], str(row[STREAMS]), float(str(row[GOODPUT])), list(figures))
        for row, numbers, figures in zip(
            table.rows, table.figures[str(STREAMS)], table.figures[str(GOODPUT)], strict=True
        )
        if all(row[column] == value for column, value in wanted.items())
    ]
    return sorted(found, key=lambda place: place[0])


def is_true(said: Sentence, table: Table, better: str) -> bool:
    """Return whether a sentence is true of a table, told without a line of the product's checking."""
    says, relation = said.claim.says, said.claim.relation
    places = places_of(said, table)
    if not places:
        return False
    xs, names, means, groups = ([place[n] for place in places] for n in range(4))
    sign = better == "higher"
    if relation == words.VALUE:
        return len(places) == 1 and says["value"] == text(means[0])
    if relation in (words.CEILING, words.INVENTORY, words.ABOVE):
        part = max(means) * MBIT / float(str(says["drawn"]))
        named = words.INVENTORY if part < 0.9 else words.CEILING if part <= 1.02 else words.ABOVE
        return relation == named and says["share"] == f"{100 * part:.0f}"
    alike = curve.read_places(groups, centres=means, higher_is_better=sign) if len(places) > 1 else None
    if alike is None:
        return False
    if relation in (words.BEST, words.TOP):
        return _is_best(said, table, better, alike)
    whole = curve.read_curve(xs, groups, centres=means, higher_is_better=sign)
    falls = all(b <= 1.05 * a for a, b in pairwise(means))
    whole = alike if whole.form is Form.FALLS and not falls else whole
    reading = alike if relation in (words.HIGHEST_AT, words.HIGHEST_AMONG) else whole
    if relation in (words.GROWS, words.FALLS):
        reading = curve.read_curve(xs, groups, centres=means, higher_is_better=None)
    p = None if reading.proof.p is None else float(f"{reading.proof.p:.2g}")
    if (says["n"], says["p"], says["test"]) != (reading.proof.n, p, reading.proof.test.value):
        return False
    at = dict(zip(names, means, strict=True))
    if relation in (words.FLAT, words.MEASURED):
        form = Form.FLAT if relation == words.FLAT else Form.UNTOLD
        named = relation == words.FLAT or (at.get(says["low_at"]), at.get(says["high_at"])) == (
            min(means),
            max(means),
        )
        return reading.form is form and named and (says["low"], says["high"]) == (text(min(means)), text(max(means)))
    if relation == words.LEVELS_OFF:
        start = names.index(says["at"]) if says["at"] in names else len(names)
        level = sum(means[start:]) / len(means[start:]) if means[start:] else 0.0
        near = all(abs(value - level) <= 0.05 * level for value in means[start:])
        return reading.form is Form.LEVELS_OFF and reading.start == start and near and says["plateau"] == text(level)
    if relation in (words.GROWS, words.FALLS):
        step = [b / a for a, b in pairwise(means)]
        goes = all(s > 0.95 for s in step) if relation == words.GROWS else all(s < 1.05 for s in step)
        ends = (says["first_at"], says["first"], says["last_at"], says["last"])
        form = Form.GROWS if relation == words.GROWS else Form.FALLS
        return goes and reading.form is form and ends == (names[0], text(means[0]), names[-1], text(means[-1])) and (
            says["ratio"] == f"{max(means[0], means[-1]) / min(means[0], means[-1]):.3g}"
        )  # fmt: skip
    rivals = ", ".join(names[place] for place in reading.rivals[:4]) + (" …" if len(reading.rivals) > 4 else "")
    return (
        reading.form is Form.BEST
        and (relation in (words.HIGHEST_AT, words.LOWEST_AT)) == (not reading.rivals)
        and says.get("rivals", "") == rivals
        and (at.get(says["low_at"]), at.get(says["high_at"])) == (min(means), max(means))
        and (says["low"], says["high"]) == (text(min(means)), text(max(means)))
        and says["ratio"] == f"{max(means) / min(means):.3g}"
    )


def _is_best(said: Sentence, table: Table, better: str, reading: curve.Reading) -> bool:
    says = said.claim.says
    named = [
        float(str(row[GOODPUT]))
        for row in table.rows
        if row[STREAMS] == says["at"] and f"Window {row[WINDOW]}" == says["label"]
    ]
    pick = max if better == "higher" else min
    best = pick(float(str(row[GOODPUT])) for row in table.rows)
    p = None if reading.proof.p is None else float(f"{reading.proof.p:.2g}")
    is_alone = reading.form is Form.BEST and not reading.rivals
    return (
        named == [best]
        and says["value"] == text(best)
        and (says["others"], says["rivals"]) == (len(table.rows) - 1, len(reading.rivals))
        and (says["n"], says["p"], says["test"]) == (reading.proof.n, p, reading.proof.test.value)
        and is_alone == (said.claim.relation == words.BEST)
    )


def cases() -> Iterator[tuple[Document, Table, str]]:
    chance = random.Random(13)
    for number in range(MUTATED):
        language, better = ("en", "ko")[number % 2], ("higher", "higher", "lower")[number % 3]
        table = tables.table(tables.drawn(chance))
        with translation.override(language):
            ceiling = chance.choice((None, 9e8))
            document = tables.document(table, better=better, ceiling=ceiling, language=language)
        assert checks.check(document) == []
        yield with_table(document, mutated(table, chance)), table, better


def test_of_1000_mutated_tables_every_false_sentence_is_caught_and_no_true_one_refused() -> None:
    seen: dict[tuple[str, bool], int] = {}
    for document, _table, better in cases():
        held = next(block for block in walk(document) if isinstance(block, Table))
        refused = {wrong.sentence for wrong in checks.check(document)}
        for _place, said in checks.sentences_of(document):
            truth = is_true(said, held, better)
            assert (said.text not in refused) == truth, (said, held)
            seen[said.claim.relation, truth] = seen.get((said.claim.relation, truth), 0) + 1
        # What is offered in their place is true.
        assert checks.check(checks.corrected(document)) == []
    told = {relation for relation, _truth in seen}
    assert {words.FLAT, words.GROWS, words.FALLS, words.LEVELS_OFF, words.MEASURED, words.HIGHEST_AMONG} <= told
    assert {words.BEST, words.TOP, words.INVENTORY, words.ABOVE, words.LOWEST_AMONG} <= told
    for relation in (words.GROWS, words.FLAT, words.LEVELS_OFF, words.HIGHEST_AMONG, words.TOP):
        assert seen[relation, True] > 10
        assert seen[relation, False] > 10


def test_words_that_are_not_those_of_the_claim_are_caught() -> None:
    document = tables.document(tables.table([[[1.0, 1.01, 0.99], [2.0, 2.01, 2.02], [4.0, 4.01, 4.0]]]))
    figure = document.sections[0].blocks[0]
    said = figure.says[0]
    assert said.claim.relation == words.GROWS
    lie = replace(said, text=said.text.replace("grows", "falls"))
    for changed in (replace(figure, says=(lie,), sentence=lie.text), replace(figure, sentence="It is best.")):
        section = replace(document.sections[0], blocks=(changed, *document.sections[0].blocks[1:]))
        wrong = checks.check(replace(document, sections=(section,)))
        assert [item.right for item in wrong] == [said.text]


def test_one_figure_a_place_is_not_enough_and_the_sentence_says_so() -> None:
    document = tables.document(tables.table([[[508.0], [356.0], [354.0], [501.0], [497.0], [409.0]]]))
    (said,) = document.sections[0].blocks[0].says
    assert said.claim.relation == words.MEASURED
    assert said.text == (
        "Goodput was measured between 354.0 Mbit/s (Streams 4) and 508.0 Mbit/s (Streams 1);"
        " n = 1: not enough to tell."
    )


@pytest.mark.parametrize(
    ("mean", "relation"), [(400.0, words.INVENTORY), (950.0, words.CEILING), (1200.0, words.ABOVE)]
)
def test_the_inventorys_figure_is_a_ceiling_only_where_it_was_reached(mean: float, relation: str) -> None:
    document = tables.document(tables.table([[[mean, mean * 1.001, mean * 0.999]]]), ceiling=1e9)
    assert [said.claim.relation for said in document.sections[0].blocks[0].says] == [words.VALUE, relation]


def test_counts_and_quotes_are_asked_of_their_rows() -> None:
    table = tables.table([[[1.0], [2.5]]])
    said = (
        counted.count("2 settings were measured", 2, table.key),
        counted.quote("Two streams give 2.5", table.key, GOODPUT, "2", "2.5"),
        counted.count("0 problems were found", 0, "problems"),
    )
    document = Document(
        "campaign", "T", "", "en", (Section("s", "S", (Paragraph(said[:1]), Items((said[1:],)), table)),)
    )
    assert checks.check(document) == []
    more = replace(table, rows=(*table.rows, ("4", "64 KiB", 1, 3.0)), figures=None)
    blocks = document.sections[0].blocks
    grown = replace(document, sections=(replace(document.sections[0], blocks=(*blocks[:2], more)),))
    assert [(wrong.sentence, wrong.right) for wrong in checks.check(grown)] == [
        ("2 settings were measured", "3 settings were measured")
    ]
    gone = replace(document, sections=(replace(document.sections[0], blocks=blocks[:2]),))
    assert [wrong.right for wrong in checks.check(gone)] == ["", ""]


def test_a_baseline_is_compared_setting_by_setting() -> None:
    figures = {"1": [[1.0, 1.1, 0.9]] * 6, "2": [[2.0, 2.1, 1.9]] * 6}
    columns = (Columns := tables.Column)("Window"), Columns("Before"), Columns("After"), Columns("Ratio")
    table = Table("b", "B", columns, tuple((str(n), 1.0, 2.0, 2.0 + n / 10) for n in range(6)), figures=figures)
    topic = Topic("b", of=3, by=(1, 2), metric="Goodput")
    claims = overall.tell(topic, table)
    assert [claim.relation for claim in claims] == [words.OVERALL_HIGHER, words.RATIOS]
    assert all(overall.holds(claim, table) for claim in claims)
    turned = replace(table, figures={"1": figures["2"], "2": figures["1"]})
    assert [overall.holds(claim, turned) for claim in claims] == [False, True]


def test_measurements_elsewhere_are_not_set_against_each_other() -> None:
    table = tables.table([[[1.0]], [[2.0]]])
    claim = Claim(words.UNLIKE, Topic(table.key, by=(WINDOW,)))
    document = Document("campaign", "T", "", "en", (Section("s", "S", (Paragraph((words.sentence(claim),)), table)),))
    assert checks.check(document) == []
    alike = replace(table, rows=table.rows[:1], figures=None)
    section = replace(document.sections[0], blocks=(document.sections[0].blocks[0], alike))
    assert len(checks.check(replace(document, sections=(section,)))) == 1


def test_claims_and_figures_come_back_from_their_json_and_old_documents_have_none() -> None:
    document = tables.document(tables.table([[[1.0, 1.2], [2.0, 2.2]]]), ceiling=5e6)
    data = serialisation.as_json(document)
    again = serialisation.from_text(serialisation.canonical(data))
    assert serialisation.canonical(serialisation.as_json(again)) == serialisation.canonical(data)
    assert checks.check(again) == []
    bare = serialisation.canonical(serialisation.as_json(Document("campaign", "T", "", "en", ())))
    assert "says" not in bare
    for change, place in (
        ({"says": [{"text": "x", "claim": 5}]}, "sections[0].blocks[0].says[0].claim"),
        ({"says": [{"text": "x", "claim": {"topic": {"of": -1}}}]}, "sections[0].blocks[0].says[0].claim.topic.of"),
        (
            {"says": [{"text": "x", "claim": {"topic": {"rows": [["x", "y"]]}}}]},
            "sections[0].blocks[0].says[0].claim.topic.rows",
        ),
        (
            {"says": [{"text": "x", "claim": {"topic": {}, "says": {"a": []}}}]},
            "sections[0].blocks[0].says[0].claim.says.a",
        ),
    ):
        broken = serialisation.as_json(document)
        broken["sections"][0]["blocks"][0] |= change
        with pytest.raises(serialisation.DocumentError) as caught:
            serialisation.from_json(broken)
        assert caught.value.place == place
    for figures in ({"3": [[1]]}, {"3": [["x"], [1]]}, {"3": 5}):
        broken = serialisation.as_json(document)
        broken["sections"][0]["blocks"][1]["figures"] = figures
        with pytest.raises(serialisation.DocumentError):
            serialisation.from_json(broken)
