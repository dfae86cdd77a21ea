"""The one loader of YAML and JSON: what it reads, what it refuses and where, and that nobody reads without it."""

import ast
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from apps.core import documents
from apps.core.documents import UnreadableError
from tests.test_architecture import ROOT, SOURCES, module_of, tree_of

LIMITS = documents.DocumentLimits(most_bytes=1_000_000, deepest=12, most_values=20_000)
# What would be a bomb for a loader without bounds takes less than a second here; the machine may be busy.
SOON_S = 10.0

# Nine layers of nine: the mapping of the last has 3.4e8 fields in its tree.
MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10)
)
BOMBS = {
    "aliases": "a: &a [x]\nb: [*a, *a]",
    "anchor-only": "a: &a x",
    "merge-keys": MERGES,
    "merge-key-without-an-anchor": "a:\n  <<: {b: c}",
    "lists-deep": "[" * 100_000,
    "lists-deep-and-closed": "[" * 400_000 + "]" * 400_000,
    "mappings-deep": "{a: " * 100_000,
    "keys-deep": "? " * 100_000 + "a",
    "blocks-deep": "".join(" " * n + "a:\n" for n in range(1_000)),
    "dashes-deep": "- " * 100_000,
    "values-many": "- a\n" * 200_000,
    "keys-many": "".join(f"k{n}: 1\n" for n in range(50_000)),
    "documents-many": "--- a\n" * 100_000,
    "tag-lines-many": "".join(f"%TAG !t{n}! tag:x,2000:{n}\n" for n in range(30_000)) + "--- a",
    "python-object": "!!python/object/apply:os.system [id]",
    "binary": "a: !!binary aGVsbG8=",
    "set": "a: !!set {b, c}",
    "own-tag": "a: !thing b",
    "too-large": "#" * 1_000_001,
    "large-in-utf-8": "가" * 400_000,
    "bytes-without-end": b"\xff\xfe" * 100,
    "control-character": "a: \x01",
    "lone-surrogate": "a: \ud800",
    "key-twice": "a: 1\nb: 2\na: 3",
}


def refusal(read: Callable[[Any, documents.DocumentLimits], Any], raw: str | bytes) -> str:
    began = time.monotonic()
    with pytest.raises(UnreadableError) as refused:
        read(raw, LIMITS)
    assert time.monotonic() - began < SOON_S
    return str(refused.value)


@pytest.mark.parametrize("name", BOMBS)
def test_every_bomb_in_yaml_is_refused_at_once(name: str) -> None:
    text = refusal(documents.read_yaml, BOMBS[name])
    assert text and len(text) < 300
    if name not in ("too-large", "large-in-utf-8", "bytes-without-end"):
        assert text.startswith("Line "), "where"


def test_a_number_that_is_longer_than_any_stays_a_text() -> None:
    sixties = "1" + ":59" * 200_000
    assert documents.read_yaml(f"a: {sixties}", LIMITS) == {"a": sixties}
    assert documents.read_yaml("a: " + "9" * 100_000, LIMITS)["a"] == "9" * 100_000


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("a: [1,\nb: }", "Line 2, column "),
        ("a: 1\n  b: 2", "Line 2, column 4: this is not YAML (mapping values are not allowed"),
        ("a:\n  - x\n  - *b", "Line 3, column 5: anchors (&) and aliases (*) are not read"),
        ("a:\n  <<: {b: c}", "Line 2, column 3: merge keys (<<) are not read; write the fields out."),
        ("a: 1\nb: {c: 1, c: 2}", "Line 2, column 11: “c” stands here twice: leave one out."),
        ("a: 1\nb: x\x07", "Line 2, column 5: a character stands here that YAML does not allow"),
        ("a: 1\n%TAG ! x", "Line 2, column 1: tags"),
    ],
    ids=range(7),
)
def test_an_error_names_line_and_column(text: str, refused: str) -> None:
    assert refusal(documents.read_yaml, text).startswith(refused)


def test_values_are_those_of_json_and_dates_stay_texts() -> None:
    text = 'a: 1\nb: 1.5\nc: yes\nd: ~\ne: "1"\nf: 2026-11-23\n1: [x, {}]\n"<<": 0x10\ng: 1e3\nh: 0b\ni: !!str 7\n'
    assert documents.read_yaml(text, LIMITS) == {
        "a": 1, "b": 1.5, "c": True, "d": None, "e": "1", "f": "2026-11-23", "1": ["x", {}], "<<": 16, "g": "1e3",
        "h": "0b", "i": "7",
    }  # fmt: skip
    assert documents.read_yaml("", LIMITS) is None
    assert documents.read_yaml("\ufeffa: 1", LIMITS) == {"a": 1}
    assert documents.read_yaml(b"\xef\xbb\xbf[a]", LIMITS) == ["a"]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("[" * 100_000, "Line 1, column 13: this is nested too deeply."),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1,\n "b": 2, "a": 3}', "“a” stands twice in one object"),
        ("{" + ", ".join(f'"{n}": 0' for n in range(9_000)) + ', "7": 1}', "“7” stands twice in one object"),
        ('{"a": }', "Line 1, column 7: this is not JSON (Expecting value)."),
        ("[NaN]", "NaN, Infinity or a number without end"),
        ("[1e999]", "NaN, Infinity or a number without end"),
        ("[" + "9" * 5_000 + "]", "NaN, Infinity or a number without end"),
        ("[" * 13 + '"' + '\\"' * 300_000, "nested too deeply"),
        ('"' + '\\"' * 400_000 + "[" * 13 + "\\", "this is not JSON"),
        ("", "this is not JSON"),
        (" " * 1_000_001, "976 KiB at most"),
        (b"\xff", "not UTF-8"),
    ],
    ids=range(13),
)
def test_every_bomb_in_json_is_refused_at_once(text: str | bytes, refused: str) -> None:
    assert refused in refusal(documents.read_json, text)


def test_brackets_within_texts_are_not_counted_as_depth() -> None:
    assert documents.read_json('{"a": "' + "[" * 50 + '\\"[["}', LIMITS) == {"a": "[" * 50 + '"[['}


# Who reads JSON by hand: what the service itself wrote, what programs printed, and what agents send.
OWN_JSON = {
    "apps.bench.custom.paths",
    "apps.reports.withheld",
    "apps.campaigns.live",
    "apps.campaigns.services.adaptation",
    "apps.core.documents",
    "apps.core.queue",
    "apps.core.signs",
    "apps.archive.campaigns.writer",
    "apps.archive.exports.parquet_program",
    "apps.archive.landing.description",
    "apps.reports.overview.changes",
    "apps.reports.files.program.__main__",
    "apps.reports.serialisation.reader",
    "apps.comparison.comparisons.figure_rows",
    "apps.toolbox.attempts",
    "apps.toolbox.reading_program",
    "apps.results.corrections.models",
    "apps.results.corrections.changes",
    "apps.comparison.figures.program.__main__",
    "apps.comparison.history.points",
    "apps.comparison.matrix.table",
}
WRITING = {"dump", "dump_all", "safe_dump", "safe_dump_all", "SafeDumper", "CSafeDumper", "Dumper"}


def names_of(tree: ast.Module, package: str) -> set[str]:
    """Return what a source takes from a package, by attribute or by import."""
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == package
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            taken |= {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            taken |= {
                f"as {alias.asname}" for alias in node.names if alias.name.split(".")[0] == package and alias.asname
            }
    return taken


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_nobody_else_reads_or_writes_yaml() -> None:
    users = {
        module_of(path): names
        for path in SOURCES
        if path.is_relative_to(ROOT / "apps") or path.is_relative_to(ROOT / "workers")
        if (names := names_of(tree_of(path), "yaml"))
    }
    assert set(users) == {"apps.core.documents", "apps.core.yaml_writer"}, users
    assert not users["apps.core.documents"] & WRITING
    assert "dump" in users["apps.core.yaml_writer"]


@pytest.mark.xdist_group("architecture")
def test_nobody_else_reads_json_of_people() -> None:
    readers = {
        module_of(path)
        for path in SOURCES
        if path.is_relative_to(ROOT / "apps") or path.is_relative_to(ROOT / "workers")
        if not path.is_relative_to(ROOT / "workers" / "agent") and names_of(tree_of(path), "json") & {"load", "loads"}
    }
    assert readers <= OWN_JSON, "read it by apps.core.documents.read_json"
    assert readers >= OWN_JSON, "this module reads none any more"


@pytest.mark.parametrize(
    "text", ["[" + "{}," * 400 + "{}]", "[" + "1," * 400 + "1]", '{"a": [' + '"",' * 400 + "1]}"]
)
def test_too_many_values_are_refused_before_any_is_built(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("json.loads", lambda *values, **more: pytest.fail("it was built"))
    with pytest.raises(documents.UnreadableError, match="more than 300 values"):
        documents.read_json(text, documents.DocumentLimits(most_bytes=10_000, deepest=8, most_values=300))


def test_what_stands_within_texts_is_no_value() -> None:
    limits = documents.DocumentLimits(most_bytes=10_000, deepest=8, most_values=11)
    text = json.dumps({"csv": "1,2,[,{,\\" * 200, "b": [1, 2.5, None, {"c": True}]})
    assert documents.read_json(text, limits) == json.loads(text)
