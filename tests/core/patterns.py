"""Collect the regular expressions of the service: run as a program, it writes each as a line of JSON."""

import ast
import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

OWN = Path(__file__).parents[2]
_CALLS = ("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
# What tries a pattern at each place of a text.
_SEARCHES = frozenset({"search", "findall", "finditer", "sub", "subn", "split"})
_OTHERS = (".migrations", ".settings.", "__main__")


class _Names(dict):
    """A module's names; any other, such as an argument of a function, is a word."""

    def __missing__(self, name: str) -> str:
        return "x"


def main() -> None:
    """Write the patterns: [pattern, flags, is of bytes, place, is searched]."""
    places: dict[tuple[str | bytes, int], str] = {}
    plain = re._compile  # type: ignore[attr-defined]

    def note(pattern: Any, flags: Any) -> Any:
        compiled = plain(pattern, flags)
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        file = Path(frame.f_code.co_filename)
        place = str(file.relative_to(OWN)) if file.is_relative_to(OWN) else ""
        if place.startswith(("apps/", "workers/")):
            places.setdefault((compiled.pattern, compiled.flags), f"{place}:{frame.f_lineno}")
        return compiled

    re._compile = note  # type: ignore[attr-defined]
    import django

    django.setup()
    matched = set(_only_matched())
    for module in _modules():
        for pattern, flags, line, call in _within_functions(module):
            compiled = plain(pattern, flags)
            places.setdefault((compiled.pattern, compiled.flags), f"{module.__name__}:{line}")
            if call not in (*_SEARCHES, "compile"):
                matched.add(f"{module.__name__}:{line}")
    for (pattern, flags), place in places.items():
        is_bytes = isinstance(pattern, bytes)
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        sys.stdout.write(json.dumps([text, int(flags), is_bytes, place, place not in matched]) + "\n")


def _modules() -> Iterator[ModuleType]:
    for name in ("apps", "workers"):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not any(other in found.name for other in _OTHERS):
                yield importlib.import_module(found.name)


def _only_matched() -> Iterator[str]:
    """Yield the place of each pattern that is tried at the beginning of a text only, wherever it is used."""
    texts = {path: path.read_text() for folder in ("apps", "workers") for path in (OWN / folder).rglob("*.py")}
    for path, own in texts.items():
        for node in ast.parse(own).body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="compile"))):
                    readers = [own] if name.startswith("_") else texts.values()
                    uses = [use for text in readers for use in re.findall(rf"\b{name}\b(?:\.(\w+))?", text)]
                    # Of a private name the one use without a call is the definition; others may be anything.
                    if (uses.count("") == 1 or not name.startswith("_")) and not _SEARCHES & set(uses):
                        yield f"{path.relative_to(OWN)}:{node.lineno}"


def _within_functions(module: ModuleType) -> Iterator[tuple[Any, int, int, str]]:
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[first, *others]) if (
                name in _CALLS
            ):
                pattern = _value(first, module)
                flags = [_value(item, module) for item in (*others, *(word.value for word in node.keywords))]
                if isinstance(pattern, str | bytes):
                    yield (
                        pattern,
                        next((flag for flag in flags if isinstance(flag, re.RegexFlag)), 0),
                        node.lineno,
                        name,
                    )


def _value(node: ast.expr, module: ModuleType) -> Any:
    if isinstance(node, ast.Name) and node.id not in vars(module):
        return None
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), _Names(vars(module)))
    except Exception:
        # What depends on a function's arguments in other ways than as a word within.
        return None


if __name__ == "__main__":
    main()
