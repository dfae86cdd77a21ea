"""What is said has one order whatever the seed of Python's hashes: no set's order reaches a page, file or REST."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = ("0", "1", "2", "3")
# What does not keep the order of what it is given.
ORDERLESS = {"sorted", "set", "frozenset", "len", "any", "all", "min", "max", "sum", "fsum"}


def said_with(seed: str) -> str:
    found = subprocess.run(
        [sys.executable, "-m", "tests.hash_seeds.said"],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


def test_the_same_is_said_with_every_seed() -> None:
    first, *others = (said_with(seed) for seed in SEEDS)
    assert len(first) > 10_000
    assert all(other == first for other in others)


def is_keys(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys"


def is_set_of_names(node: ast.AST) -> bool:
    """Return whether an expression is what is left of the keys of a mapping: a set, most often of texts."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub | ast.BitOr | ast.BitAnd | ast.BitXor):
        return False
    return any(is_keys(side) or is_set_of_names(side) for side in (node.left, node.right))


def in_order(tree: ast.AST) -> Iterator[int]:
    """Yield the lines where errors or texts are made in the order of such a set."""
    free = {
        id(argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ORDERLESS
        for argument in call.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and is_set_of_names(node.iter) and not _only_counts(node):
            yield node.lineno
        if isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp) and id(node) not in free:
            yield from (node.lineno for part in node.generators if is_set_of_names(part.iter))
        if isinstance(node, ast.Starred) and is_set_of_names(node.value):
            yield node.lineno


def _only_counts(loop: ast.For) -> bool:
    """Return whether a loop keeps nothing of what it meets in a mapping or list: it removes, or calls."""
    kept = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Yield)
    return not any(isinstance(node, kept) for part in loop.body for node in ast.walk(part))


def test_no_loop_over_what_is_left_of_keys_makes_something_in_its_order() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for room in ("apps", "workers")
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in in_order(ast.parse(path.read_text()))
    ]
    assert found == []
