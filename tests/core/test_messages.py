"""Stored messages in the reader's language."""

from django.utils import translation

from apps.bench.text import Message
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
