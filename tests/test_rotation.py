"""Every case of a walk has its turn, and a soak takes all."""

import pytest

from tests import rotation


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5, 30])
@pytest.mark.parametrize("parts", [2, 4, 10])
def test_each_case_has_its_turn(number: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for turn in range(739_000, 739_000 + parts):
        monkeypatch.setattr(rotation, "TURN", turn)
        part = rotation.part_of(range(number), parts)
        assert bool(part) == bool(number)
        assert len(part) <= number / parts + 1
        taken += part
    assert set(taken) == set(range(number))


def test_a_soak_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "TURN", None)
    assert rotation.part_of("abcde") == list("abcde")
    assert rotation.number_of(200) == 200
    assert "whole" in rotation.words()


@pytest.mark.parametrize(("text", "turn"), [("all", None), ("7", 7)])
def test_the_turn_is_as_asked_for(text: str, turn: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rotation.VARIABLE, text)
    assert rotation._turn() == turn


def test_a_run_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "TURN", 739_002)
    assert rotation.words() == "walks: part 2 of 4 (FATHOM_TURN=739002 takes it again, make soak takes all)"
