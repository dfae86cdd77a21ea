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


def test_the_catalogue_has_what_is_collected_and_no_more(checkout: Path) -> None:
    assert catalogue.collect(checkout) == 0
    collected, here = messages_of(checkout / catalogue.CATALOGUE), messages_of(HERE)
    assert sorted(collected.keys() ^ here.keys()) == []
    assert {name: message.string for name, message in collected.items()} == {
        name: message.string for name, message in here.items()
    }
    assert [name for name, message in collected.items() if message.fuzzy] == []
    once = (checkout / catalogue.CATALOGUE).read_text(encoding="utf-8")
    assert catalogue.collect(checkout) == 0
    assert (checkout / catalogue.CATALOGUE).read_text(encoding="utf-8") == once


def test_a_new_text_is_left_empty_and_one_that_is_gone_goes(checkout: Path) -> None:
    source = checkout / "apps" / "core" / "contract.py"
    text = source.read_text(encoding="utf-8")
    assert "There are: %(names)s." in text
    source.write_text(text.replace("There are: %(names)s.", "These are: %(names)s."), encoding="utf-8")
    assert catalogue.collect(checkout) == 0
    messages = messages_of(checkout / catalogue.CATALOGUE)
    assert ("", "There are: %(names)s.") not in messages
    # What is like it is no translation of it.
    new = messages["", "These are: %(names)s."]
    assert (new.string, new.fuzzy) == ("", False)
