"""Names say one thing each, and docstrings say more than the name they stand under."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Names of classes that stand twice: Django asks for the first, and the others are words of the rules, too.
NAMES_TWICE = {
    "Command",  # management commands, and a tool's command
    "Finding",  # what an output is recognised as, and a stored finding
    "Table",  # a rule's table of layers, and a report's
    "Decision",  # a rule's on the limiting layer, and a person's on a finding
    "Case",  # two rules', of a storage's growth and of a window's verdict
}
# What a docstring may not consist of alone, beside the words of the name it stands under.
EMPTY = frozenset(
    [
        "a",
        "all",
        "an",
        "and",
        "are",
        "as",
        "be",
        "each",
        "for",
        "from",
        "give",
        "in",
        "is",
        "it",
        "its",
        "make",
        "of",
        "on",
        "one",
        "or",
        "return",
        "that",
        "the",
        "them",
        "this",
        "to",
        "what",
        "with",
        "yield",
    ]
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "apps").rglob("*.py")):
        if "migrations" not in path.parts:
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def words_of(text: str) -> set[str]:
    """Return the stems of a text's words, or of a name's parts."""
    parts = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {re.sub(r"(?<=[a-z]{3})(ing|ed|es|s|e)$", "", part) for part in parts if part not in EMPTY}


def functions_of(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield (the class's name or "", function) of what stands in a module or in one of its classes."""
    for owner in ast.walk(module):
        if isinstance(owner, ast.Module | ast.ClassDef):
            name = owner.name if isinstance(owner, ast.ClassDef) else ""
            yield from (
                (name, part) for part in owner.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            )


def only_repeats(owner: str, name: str, docstring: str) -> bool:
    return words_of(docstring) <= words_of(f"{owner} {name}")


def test_one_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path, module in modules():
        # A class within another, such as Meta or State, is named by that one.
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in NAMES_TWICE} == {}
    assert NAMES_TWICE - twice.keys() == set()


def test_no_docstring_only_repeats_the_name() -> None:
    assert only_repeats("SiteMatrix", "get", "Return the matrix.") and only_repeats("", "total", "Return all of it.")
    assert not only_repeats("", "total", "Return the counts of all lanes together, zeros without any.")
    repeating = [
        f"{path}:{function.lineno} {text}"
        for path, module in modules()
        for owner, function in functions_of(module)
        if (text := ast.get_docstring(function)) and only_repeats(owner, function.name, text)
    ]
    assert repeating == []
