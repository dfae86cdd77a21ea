"""Every text of the product is in Korean too, with the same placeholders."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages import pofile
from babel.messages.catalog import Message

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "locale" / "ko" / "LC_MESSAGES" / "django.po"
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|%%|%[sd]|</?[a-z]+")
IN_TEMPLATES = re.compile(r"""\{%\s*translate\s+(?:"([^"]+)"|'([^']+)')""")
MARKS = {"_", "gettext", "gettext_lazy"}


def catalogue() -> list[Message]:
    with CATALOGUE.open("rb") as file:
        return [message for message in pofile.read_po(file, locale="ko") if message.id]


def english_of(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[1]


def korean_of(message: Message) -> str:
    return message.string if isinstance(message.string, str) else message.string[0]


@functools.cache
def texts_in_python() -> frozenset[str]:
    """Return the texts that are marked for translation; to read all of the code takes a second of a processor."""
    return frozenset(
        node.args[0].value
        for folder in ("apps", "workers")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS
        if node.args and isinstance(node.args[0], ast.Constant)
    )


def texts_in_templates() -> Iterator[str]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for double, single in IN_TEMPLATES.findall(path.read_text(encoding="utf-8")):
            yield double or single


@pytest.fixture(scope="session")
def messages() -> list[Message]:
    return catalogue()


def test_nothing_is_left_untranslated_or_guessed(messages: list[Message]) -> None:
    assert [english_of(message) for message in messages if not korean_of(message) or message.fuzzy] == []


def test_no_placeholder_or_tag_differs(messages: list[Message]) -> None:
    differing = [
        english_of(message)
        for message in messages
        if Counter(PLACEHOLDER.findall(english_of(message))) != Counter(PLACEHOLDER.findall(korean_of(message)))
    ]
    assert differing == []


# Names whose values end with a unit, or with what is counted, so that one form of a particle always fits.
WITH_UNITS = frozenset(
    (
        *("again", "allowed", "alone", "asked", "bdp", "beneath", "best", "bytes", "ceiling", "disk", "further"),
        *("granted", "high", "latency", "less", "limit", "maximum", "more", "most", "needed", "piece", "rate", "rtt"),
        *("size", "stored", "trials", "wide", "window", "carried", "had", "load", "upper"),
    )
)
PARTICLE = re.compile(r"%\((\w+)\)s[”\"]?(?:와|과|은|는|이|가|을|를|로|으로)(?=[\s.,)·:]|$)")


def test_a_particle_behind_a_word_has_both_forms(messages: list[Message]) -> None:
    """Which of 과 and 와 fits depends on the last letter of the word before it, which is any."""
    fixed = {
        (name, korean_of(message))
        for message in messages
        for name in PARTICLE.findall(korean_of(message))
        if name not in WITH_UNITS
    }
    assert fixed == set()


def test_every_text_in_the_source_is_in_the_catalogue(messages: list[Message]) -> None:
    known = {message.id if isinstance(message.id, str) else message.id[0] for message in messages}
    # A percent sign is doubled in the catalogue where it stands in a template.
    found = {*texts_in_python(), *(text.replace("%", "%%") for text in texts_in_templates())}
    assert sorted(found - known) == []


def test_ends_of_a_range_are_called_min_and_max_as_tools_print_them(messages: list[Message]) -> None:
    texts = {*texts_in_python(), *texts_in_templates()}
    assert sorted(text for text in texts if re.match(r"(Least|Most)\b[^.]*$", text)) == []
    assert sorted(text for text in texts if re.search(r"\b(least|largest|longest) RTT\b", text, re.IGNORECASE)) == []
    korean = {english_of(message): korean_of(message) for message in messages}
    named = {"min": re.compile("최소|최솟값"), "max": re.compile("최대|최댓값")}
    labels = {text: end[1].lower() for text in texts if (end := re.match(r"(min|max)(imum)?\b", text, re.IGNORECASE))}
    assert len(labels) > 20
    assert sorted(text for text, end in labels.items() if not named[end].search(korean[text])) == []


def test_a_finding_is_called_by_the_word_of_the_glossary(messages: list[Message]) -> None:
    texts = [message for message in messages if re.search(r"\bfindings?\b", english_of(message), re.IGNORECASE)]
    assert texts and not [english_of(message) for message in texts if re.search("발견|소견", korean_of(message))]


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        ("at the latest", "늦어도"),
        ("at most", "최대|최댓|많아야|높아야|길어야|이하|이내|까지|넘지|상한|않|못|만 |안에"),
        ("at least", "최소|최솟|적어도|이상|하한|넘|부터"),
    ],
)
def test_what_bounds_a_statement_bounds_it_in_korean(messages: list[Message], bound: str, words: str) -> None:
    texts = [message for message in messages if re.search(rf"\b{bound}\b", english_of(message), re.IGNORECASE)]
    assert len(texts) > 2
    assert [english_of(message) for message in texts if not re.search(words, korean_of(message))] == []


def test_sentences_end_politely_in_korean(messages: list[Message]) -> None:
    plain = re.compile(r"(?<![니보마])다[.:;](?=\s|$)")
    assert [korean_of(message) for message in messages if plain.search(korean_of(message))] == []
