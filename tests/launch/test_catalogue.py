"""The catalogue has just the texts that `make messages` collects, and a second run of it changes nothing."""

import shutil
from pathlib import Path

import pytest
from babel.messages import pofile
from babel.messages.catalog import Message

from launch import catalogue, home

pytestmark = pytest.mark.skipif(catalogue.is_missing(), reason="GNU gettext is not installed")
HERE = home.ROOT / catalogue.CATALOGUE


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of all that texts are collected from."""
    for name in ("apps", "workers", "templates", "locale"):
        shutil.copytree(home.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    return tmp_path


def messages_of(path: Path) -> dict[tuple[str, str], Message]:
    """Return {(context, msgid): message} of a catalogue."""
    with path.open("rb") as file:
        messages = [message for message in pofile.read_po(file, locale="ko") if message.id]
    return {
        (message.context or "", message.id if isinstance(message.id, str) else message.id[0]): message
        for message in messages
    }


def test_it_has_what_is_collected_and_no_more_and_a_second_run_changes_nothing(checkout: Path) -> None:
    source = checkout / "apps" / "core" / "contract.py"
    text = source.read_text(encoding="utf-8")
    gone, new = ("", "There are: %(names)s."), ("", "These are: %(names)s.")
    assert gone[1] in text
    source.write_text(text.replace(gone[1], new[1]), encoding="utf-8")
    assert catalogue.collect(checkout) == 0
    collected, here = messages_of(checkout / catalogue.CATALOGUE), messages_of(HERE)
    assert sorted(collected.keys() - here.keys()) == [new]
    assert sorted(here.keys() - collected.keys()) == [gone]
    assert {name: message.string for name, message in collected.items() if name != new} == {
        name: message.string for name, message in here.items() if name != gone
    }
    # What is like it is no translation of it.
    assert collected[new].string == ""
    assert [name for name, message in collected.items() if message.fuzzy] == []
    once = (checkout / catalogue.CATALOGUE).read_text(encoding="utf-8")
    assert catalogue.collect(checkout) == 0
    assert (checkout / catalogue.CATALOGUE).read_text(encoding="utf-8") == once
