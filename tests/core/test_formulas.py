"""Formulas of findings speak the reader's language: every word in them is known to whoever shows them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from apps.bench import rules
from apps.core import formulas

# Words of mathematics and names of metrics and settings are the same in every language.
SYMBOLS = {"min", "max", "mod", "disk", "net", "pair", "read", "reread", "bdp", "bit"}
WORD = re.compile(r"[a-z]{3,}")


def texts_of_formulas() -> Iterator[tuple[str, str]]:
    """Yield (file, text) of what rules write into formulas: `formula=`, what is called so, what `_formula` says."""
    for path in sorted(Path(rules.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            is_given = isinstance(node, ast.keyword) and node.arg == "formula"
            is_named = isinstance(node, ast.Assign) and any(
                getattr(item, "id", "") == "formula" for item in node.targets
            )
            if is_given or is_named:
                yield from ((path.name, text) for text in written(node.value))
            elif isinstance(node, ast.FunctionDef) and node.name in ("_formula", "bdp_formula"):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                yield from ((path.name, text) for part in body for text in written(part))


def written(node: ast.AST) -> Iterator[str]:
    """Yield the texts of an expression, those of f-strings with "7" for each value; not arguments of functions."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from written(part.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.Call | ast.Subscript | ast.Compare):
        for child in ast.iter_child_nodes(node):
            yield from written(child)


@pytest.mark.parametrize(("file", "text"), sorted(set(texts_of_formulas())))
def test_each_word_of_a_formula_is_translated(file: str, text: str) -> None:
    with translation.override("ko"):
        left = set(WORD.findall(formulas.render(text))) - SYMBOLS
    assert not left, (file, text)


def test_figures_and_symbols_stand_as_they_are() -> None:
    text = "N = 8, the least with X >= 0.97 · 987.5 Mbit/s; expected: N = path / one stream = 990 / 140 -> 8"
    assert formulas.render(text) == text
    with translation.override("ko"):
        told = formulas.render(text)
        assert formulas.render("X(automatic) / X(65,536 B) = 2.10") == "X(자동) / X(65,536 B) = 2.10"
    assert re.findall(r"\d[\d.]*", told) == re.findall(r"\d[\d.]*", text)
    assert "the least" not in told


@pytest.mark.parametrize("phrase", [phrase for phrase in formulas.PHRASES if phrase.endswith("%(figure)s")])
def test_a_figure_at_the_end_of_a_phrase_stays_there(phrase: str) -> None:
    """More of a product may follow: "X >= 0.97 · 939 Mbit/s"."""
    with translation.override("ko"):
        assert formulas.render(phrase.replace("%(figure)s", "0.97")).endswith("0.97")
