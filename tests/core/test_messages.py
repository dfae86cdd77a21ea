"""Stored messages in the reader's language."""

import time
from typing import Any

import pytest
from django.utils import translation

from apps.bench.text import DEEPEST, LONGEST, MOST_PARAMS, MalformedMessageError, Message
from apps.core import messages


def test_a_stored_message_is_shown_with_its_values() -> None:
    assert messages.render({"msgid": "%(n)s trials", "params": {"n": 4}}) == "4 trials"
    assert messages.render(Message("%(n)s trials", {"n": 4})) == "4 trials"


def test_a_message_without_values_may_hold_a_percent_sign() -> None:
    assert messages.render({"msgid": "Within 3 % of the best.", "params": {}}) == "Within 3 % of the best."


def test_a_bare_msgid_and_nothing_are_shown_too() -> None:
    assert messages.render("Save") == "Save"
    assert messages.render("") == ""
    assert messages.render(None) == ""


def test_a_message_may_stand_within_another() -> None:
    inner = {"msgid": "no route to %(host)s", "params": {"host": "pnu1"}}
    outer = {"msgid": "Trial %(id)s failed: %(reason)s", "params": {"id": 7, "reason": inner}}
    assert messages.render(outer) == "Trial 7 failed: no route to pnu1"


def test_a_message_is_translated_when_it_is_shown() -> None:
    with translation.override("ko"):
        # Django's own catalogue has this word.
        assert messages.render("Password") == "비밀번호"


def laughs(levels: int) -> dict[str, Any]:
    """Return a message within a message …, of which each says ten times what the one within it says."""
    made: dict[str, Any] = {"msgid": "A" * 1000, "params": {}}
    for _level in range(levels):
        made = {"msgid": "%(a)s" * 10, "params": {"a": made}}
    return made


# What is stored as a message and is none, or would be endless.
HOSTILE: tuple[Any, ...] = (
    {"msgid": "%(a)200000000s", "params": {"a": 1}},
    {"msgid": "%(a)200000000s", "params": {"a": 1}, "x": 0},
    {"msgid": "%(a).999999999d", "params": {"a": 1}},
    {"msgid": "%(a)d", "params": {"a": "x"}},
    {"msgid": "%(a)s %(b)s", "params": {"a": "x"}},
    {"msgid": "%s %", "params": {"a": "x"}},
    {"msgid": "%(a)s", "params": {"a": [1] * 10}},
    {"msgid": "%(a)s", "params": {"a": {"text": "x"}}},
    {"msgid": 7, "params": {}},
    {"msgid": "x", "params": [1]},
    {"msgid": "x"},
    {"text": "x"},
    [1],
    7,
    True,
    {"msgid": "x", "params": {str(number): number for number in range(MOST_PARAMS + 1)}},
    laughs(DEEPEST),
    laughs(60),
)


@pytest.mark.parametrize("stored", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_is_stored_breaks_a_page_or_grows_on_it(stored: Any) -> None:
    began = time.process_time()
    assert len(messages.render(stored)) <= LONGEST
    assert len(messages.render({"msgid": "%(why)s" * 99, "params": {"why": stored}})) <= LONGEST
    assert time.process_time() - began < 1
    with pytest.raises(MalformedMessageError):
        Message.from_json(stored)


def test_a_message_that_says_much_is_cut_off() -> None:
    # Nine levels would be a gigabyte.
    told = messages.render(laughs(DEEPEST - 1))
    assert (len(told), told[:2], told[-1]) == (LONGEST, "AA", "…")
    assert len(messages.render({"msgid": "%(a)s", "params": {"a": "x" * 10**6}})) == LONGEST
    assert len(messages.render(Message("x" * 10**6))) == LONGEST
    assert messages.render({"msgid": "%(a)s", "params": {"a": 10**5000}}) == "(This cannot be shown.)"


def test_what_a_value_says_is_never_read_as_a_placeholder() -> None:
    assert messages.render(Message("%(a)s", {"a": "%(b)999s %s %%", "b": 1})) == "%(b)999s %s %%"


def test_a_message_as_it_is_written_is_read_again() -> None:
    inner = Message("no route to %(host)s, 100 %%", {"host": "pnu1"})
    outer = Message("Trial %(id)s: %(why)s", {"id": 7, "why": inner.as_json(), "none": None, "share": 0.5})
    assert Message.from_json(outer.as_json()) == outer
    assert str(outer) == "Trial 7: no route to pnu1, 100 %"
