"""A sentence's claim is asked of the tables again: what became false is caught, what is still true is not refused."""

from dataclasses import replace

import pytest

from apps.reports import serialisation
from apps.reports.claims import checks, counted, overall, words
from apps.reports.document import Claim, Document, Items, Paragraph, Section, Table, Topic
from tests.reports import tables
from tests.reports.tables import GOODPUT, WINDOW


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


def test_nothing_grows_from_a_figure_to_one_that_is_printed_the_same() -> None:
    rising = [[100.0 + 0.001 * place] for place in range(7)]
    (said,) = tables.document(tables.table([rising])).sections[0].blocks[0].says
    assert said.claim.relation == words.MEASURED
    assert "grows" not in said.text
    # Nor is there a span between two that are.
    assert "everywhere" in said.text
    assert "between" not in said.text


def test_the_inventory_gives_too_little_by_the_interval_of_the_mean_that_is_shown() -> None:
    # The harmonic mean of these is surely above the ceiling; the interval of the arithmetic one reaches below it.
    figures = [1060.0, 1080.0, 1100.0, 1900.0]
    harmonic = len(figures) / sum(1 / value for value in figures)
    table = tables.table([[figures]])
    rows = tuple((*row[:GOODPUT], harmonic) for row in table.rows)
    ceiling = 0.8e9
    for cells, is_told in ((rows, True), (table.rows, False)):
        said = tables.document(replace(table, rows=cells), ceiling=ceiling).sections[0].blocks[0].says
        assert (words.ABOVE in [item.claim.relation for item in said]) == is_told


# What a sweep has before its last places (Mbit/s), and these, by how often each was measured.
RISE = [[131.8], [253.9], [470.0, 466.0, 475.0], [700.0]]
ENDS = {
    "alike": ([[929.6], [939.4], [938.6], [939.0]], "Streams 16"),
    "of mixed counts": ([[925.9, 933.2], [937.9, 940.9], [938.6], [937.4, 940.5]], "Streams 16"),
    "alike at last": ([[810.0], [918.0], [939.0], [940.0]], "Streams 32"),
    "too few alike": ([[760.0], [810.0], [920.0], [940.0]], ""),
    "still rising": ([[900.0], [1000.0], [1100.0], [1200.0]], ""),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_line_that_may_have_come_to_its_end_says_from_where_on(name: str) -> None:
    last, start = ENDS[name]
    document = tables.document(tables.table([[*RISE, *last]]))
    sentence = document.sections[0].blocks[0].says[0]
    assert sentence.claim.relation == words.GROWS
    assert ("whether it goes on from there cannot be told" in sentence.text) == bool(start)
    assert sentence.claim.says.get(words.ALIKE_AT, "") == start.removeprefix("Streams ")
    assert checks.check(document) == []
    # What was said without it before is still true; another place, or one where there is none, is not.
    own = {key: value for key, value in sentence.claim.says.items() if key != words.ALIKE_AT}
    for says, holds in ((own, True), ({**own, words.ALIKE_AT: "2"}, False)):
        other = words.sentence(replace(sentence.claim, says=says))
        assert checks.holds(other, checks.tables_of(document)) == holds
