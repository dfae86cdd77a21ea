"""No sentence of any relation has an empty figure, nor more than all of a limit, whatever its table holds."""

import random

import pytest
from django.utils import translation

from apps.reports.claims import checks, several, words
from apps.reports.claims.topics import Place
from apps.reports.document import Topic
from tests import sayings
from tests.reports import tables

KINDS = ("zero", "plain", "near", "above")


def lines_with(chance: random.Random, kind: str) -> list[list[list[float]]]:
    """Return drawn lines, of which some places gave nothing, or which come up to a ceiling of 1000 or beyond it."""
    lines = tables.drawn(chance)
    if kind == "zero":
        return [[[0.0] * len(place) if chance.random() < 0.4 else place for place in line] for line in lines]
    if kind == "plain":
        return lines
    most = max(value for line in lines for place in line for value in place)
    scale = {"near": 1010.0, "above": 1400.0}[kind] / most
    return [[[value * scale for value in place] for place in line] for line in lines]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_sentences_of_drawn_tables_have_neither(language: str) -> None:
    chance, relations, faults = random.Random(11), set(), []
    with translation.override(language):
        for number in range(400):
            found = tables.table(lines_with(chance, KINDS[number % 4]))
            document = tables.document(
                found, better=chance.choice(("higher", "lower", "")), ceiling=1e9, language=language
            )
            assert checks.check(document) == []
            for _place, said in checks.sentences_of(document):
                relations.add((said.claim.relation, words.RATIO in said.claim.says))
                faults += sayings.faults_of_text(said.text)
    assert not faults, faults[:5]
    bare = {relation for relation, has_ratio in relations if not has_ratio}
    assert {words.HIGHEST_AT, words.LOWEST_AT, words.GROWS, words.FALLS, words.CEILING, words.ABOVE} <= bare
    assert {(words.HIGHEST_AT, True), (words.GROWS, True)} <= relations


def test_from_nothing_on_nothing_is_so_many_times_as_much() -> None:
    rising = [[[0.0, 0.0, 0.0], [1.0, 1.01, 0.99], [5.0, 5.01, 4.99], [9.0, 9.01, 8.99]]]
    (said,) = tables.document(tables.table(rising)).sections[0].blocks[0].says
    assert "×" not in said.text
    assert "(t test" in said.text


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ({"A": 104.0, "B": 51.0}, "A has all of its ceiling, or more than that; B is farthest from it with 51 %."),
        ({"A": 104.0, "B": 101.0}, "All pairs have all of their ceilings, or more than that."),
        ({"A": 80.0, "B": 51.0}, "A comes nearest to its ceiling with 80 %; B is farthest from it with 51 %."),
    ],
)
def test_of_pairs_none_has_more_than_all(shares: dict[str, float], text: str) -> None:
    topic = Topic("pairs", of=1, by=(0,), unit="bit/s")
    places = [Place(name, None, 1.0, (1.0,), (name, 1.0)) for name in shares]
    (claim,) = several.pairs(topic, places, 2, shares)
    assert words.text_of(claim) == text
