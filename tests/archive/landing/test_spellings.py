"""A name is known in each of its spellings, and takes no more time and memory for that than one."""

import itertools
import re
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.archive.landing.redaction import known, occurrences, stand_ins
from apps.archive.landing.redaction.spelling import GAPS, fold
from apps.archive.landing.redaction.stand_ins import Dictionary, Entry, StandIns, TooManyNamesError, dictionary_of
from apps.campaigns.models import Campaign
from tests.testbeds import factories

TWO_LETTERS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
SIGNS = "äöüåøÄßaeubx7 -._대전б"
# Names with and without gaps, short and long, and what any account can make of them.
MAKERS = (
    lambda number: f"{number:05d}ä-ö_ü.å-x",
    lambda number: f"{number:05d}ä-ö_ü.å{'-ab.cd_ef' * 9}"[:100],
    lambda number: f"{'å' * 50}{number:05d}{'ä' * 45}",
    lambda number: "aebc-" * (number % 19) + f"{number:05d}",
)
COUNT = 2000


def dictionary(*names: str) -> Dictionary:
    entries: list[Entry] = [(StandIns.add, (name, f"word {place}")) for place, name in enumerate(names)]
    return dictionary_of(tuple(entries))


def respelt(name: str) -> Iterator[str]:
    """Yield a name with each of its umlauts as one letter and as two, and two letters as the one they may be."""
    composed = unicodedata.normalize("NFC", name).casefold()
    for ways in itertools.product(*((sign, TWO_LETTERS.get(sign, sign)) for sign in composed)):
        yield "".join(ways)
    folded = fold(name).text
    if len(folded) >= 6:
        yield re.sub("(?<=[a-z])(ae|oe|ue)(?=[a-z])", lambda match: match.group()[0], folded)


def spellings(name: str) -> Iterator[str]:
    """Yield a name as it may be written: respelt, without its gaps, and with other ones."""
    for spelling in (fold(one).text for one in respelt(name)):
        yield spelling
        glued, parts = GAPS.sub("", spelling), GAPS.split(spelling)
        if len(glued) >= (4 if glued.isascii() else 2) and not re.fullmatch("[0-9a-f]+", glued):
            yield glued
        is_apart = len(glued) >= 8 and any(re.search("[a-z][0-9]|[0-9][a-z]", part) for part in parts)
        if is_apart and not any(part.isdigit() for part in parts):
            yield " ".join(parts)
        yield GAPS.sub("_", spelling)


# Of a row of the same letter nobody could tell which is written twice; no gap is longer than three signs.
names = st.text(SIGNS, min_size=2, max_size=9).filter(lambda name: not re.search("å[aäåÄ]|[ ._-]{4}", name))


@settings(deadline=None, max_examples=60)
@given(name=names.map(str.strip).filter(stand_ins.is_telling))
def test_each_spelling_of_a_name_is_hidden_as_a_whole(name: str) -> None:
    known_names = dictionary(name)
    for spelling in filter(stand_ins.is_telling, spellings(name)):
        text = f"; {spelling};"
        hidden = {place for start, end, _word in known_names.spans(text, frozenset()) for place in range(start, end)}
        # A gap at its end may stay.
        letters = [place for place, sign in enumerate(text[2:-1], start=2) if sign.isalnum()]
        assert hidden.issuperset(letters), (spelling, text)


def test_of_two_that_are_written_alike_the_first_ones_word_stands() -> None:
    for first, second in itertools.permutations(("munchen-a1", "München A1", "mÜnchen_a1"), 2):
        pair = dictionary(first, second)
        written = fold(first).text
        assert [word for *_span, word in pair.spans(written, frozenset())] == ["word 0"]
        assert pair.word(written) == "word 0"


@pytest.mark.parametrize("make", MAKERS)
def test_a_name_takes_as_much_as_one_however_many_spellings_it_has(make: Callable[[int], str]) -> None:
    signs = [make(number) for number in range(COUNT)]
    plain = [f"{number:05d}{'x' * (len(name) - 5)}" for number, name in enumerate(signs)]
    sizes = []
    for names in (plain, signs):
        tracemalloc.start()
        held = dictionary(*names)
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        del held
    # A tenth of what 20,000 may: it was 60 kB a name.
    assert sizes[1] < 10_000_000 and sizes[1] < 3 * sizes[0] + 1_000_000


def test_the_longest_row_of_umlauts_is_looked_for_in_steps_that_grow_with_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [f"{'äe' * number}å{number}" for number in range(48)]
    names = dictionary(*rows, *("å" * number for number in range(99)))
    pass_signs, steps = occurrences._passed, 0

    def count(signs: str, text: str, places: set[int], left: Any) -> set[int]:
        nonlocal steps
        steps += len(signs) * len(places)
        return pass_signs(signs, text, places, left)

    monkeypatch.setattr(occurrences, "_passed", count)
    for part in ("ae", "aa", "aee"):
        counts = []
        for times in (150, 300):
            steps = 0
            list(names.spans(part * times, frozenset(range(len(part) * times))))
            counts.append(steps)
        assert counts[1] < 2.5 * counts[0], part


def test_more_names_than_can_be_looked_for_are_refused_before_all_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for entries in (
        [(StandIns.add, (f"zq{number}", "word")) for number in range(10**5)],
        [(StandIns.add_person, (f"zq-{number} a", f"b-{number} c", "word")) for number in range(10**4)],
        [(StandIns.add_plain_address, (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", "word"))
         for number in range(10**5)],
    ):  # fmt: skip
        monkeypatch.setattr(stand_ins, "MOST_SIGNS", 100_000)
        read = []

        def noted(add: Any, read: list[int]) -> Any:
            return lambda *given: (read.append(1), add(*given))

        with pytest.raises(TooManyNamesError):
            dictionary_of(tuple((noted(add, read), texts) for add, texts in entries))
        assert 0 < len(read) < len(entries)


@pytest.mark.django_db
def test_what_cannot_be_hidden_is_not_shown(measured: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    Campaign.objects.filter(pk=measured.pk).update(visibility="public", redacted=True, goal="at zqleak1")
    factories.node(measured.team, "zqleak1")
    addresses = [f"/c/{measured.permanent_id}/", f"/c/{measured.permanent_id}/recipe.yaml"]
    addresses += [f"/c/{measured.permanent_id}/experiments/0/samples.csv"]
    addresses += [f"/api/v1/permanent-ids/{measured.permanent_id}/"]
    built: list[object] = []
    compile_names = known.dictionary_of
    monkeypatch.setattr(known, "dictionary_of", lambda entries: built.append(1) or compile_names(entries))
    monkeypatch.setattr(stand_ins, "MOST_SIGNS", 100)
    known._kept.clear()
    for address in addresses:
        answer = Client().get(address)
        assert answer.status_code == 429
        assert b"zqleak1" not in answer.content
        assert b"more names than can be hidden" in answer.content
    # It is remembered for as long as the names are the same.
    assert len(built) == 1
    monkeypatch.undo()
    factories.node(measured.team, "zqother")
    assert Client().get(addresses[0]).status_code == 200
    known._kept.clear()
