"""Which functions of the service reach the readers of tools' texts, and by which way without a limit of their time.

The reach is told by names: whoever names a function may call it. A name within `with cpu_time.limited(…)` (or within
a context manager that does that and nothing else) leads no further.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.test_architecture import ROOT, module_of, tree_of

# Of objects nobody knows the kind: these are their methods that read a text.
METHODS = ("parse", "recognises")
_SEARCHES = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
_LIMITS = {"cpu_time.limited", "_in_time"}
Place = tuple[str, str]


@dataclass
class _Function:
    """What a function names where nothing limits it, and whether it searches in a text by itself."""

    names: set[str] = field(default_factory=set)
    limited_names: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    searches: bool = False


def read_without_limit(folders: Iterable[str]) -> dict[str, str]:
    """Return {module of the folders: a way to a search in it} of those that somebody reaches without a limit."""
    functions = dict(_functions(("apps", "workers")))
    by_method = defaultdict(set)
    for place in functions:
        by_method[place[1].rpartition(".")[2]].add(place)
    callers, limited = defaultdict(set), set()
    for place, function in functions.items():
        called = set(map(_place_of, function.names))
        for method in function.methods:
            called |= {found for found in by_method[method] if found[0].startswith("apps.bench")}
        for other in called:
            callers[other].add(place)
        limited |= set(map(_place_of, function.limited_names))
    readers = [place for place, function in functions.items() if function.searches and _is_in(place, folders)]
    return {reader[0]: way for reader in readers if (way := _way_to(reader, callers, limited))}


def _place_of(name: str) -> Place:
    return name.rpartition(".")[0], name.rpartition(".")[2]


def _way_to(reader: Place, callers: dict[Place, set[Place]], limited: set[Place]) -> str:
    """Return the way from whoever is called by nobody to a reader, empty if each way to it is limited."""
    ways: dict[Place, tuple[Place, ...]] = {reader: (reader,)}
    waiting = [reader]
    while waiting:
        place = waiting.pop(0)
        # A class is named for all that it does.
        called_as = {place, (place[0], place[1].partition(".")[0])}
        above = set().union(*(callers[name] for name in called_as)) - {place}
        if not above and not called_as & limited and not place[0].startswith("apps.bench"):
            return " > ".join(".".join(step) for step in ways[place])
        for caller in above - ways.keys():
            ways[caller] = (caller, *ways[place])
            waiting.append(caller)
    return ""


def _is_in(place: Place, folders: Iterable[str]) -> bool:
    return any((place[0].replace(".", "/") + "/").startswith(folder) for folder in folders)


def _functions(rooms: Iterable[str]) -> Iterator[tuple[Place, _Function]]:
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" in path.parts or "agent" in path.relative_to(ROOT).parts:
                continue
            yield from _of(path)


def _of(path: Path) -> Iterator[tuple[Place, _Function]]:
    module, tree = module_of(path), tree_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    named = _imports(tree, package)
    patterns = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and "re.compile" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        named |= {node.name: f"{module}.{node.name}"} if isinstance(node, ast.FunctionDef | ast.ClassDef) else {}
    for name, node in _definitions(tree.body):
        function = _Function()
        _walk(node, named, patterns, function)
        yield (module, name), function
    rest = _Function()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            _walk(node, named, set(), rest)
    yield (module, ""), rest


def _definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", inner) for name, inner in _definitions(node.body))


def _imports(tree: ast.Module, package: str) -> dict[str, str]:
    named = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            named |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
        elif isinstance(node, ast.Import):
            named |= {item.asname or item.name: item.name for item in node.names}
    return named


def _walk(node: ast.AST, named: dict[str, str], patterns: set[str], function: _Function) -> None:
    if isinstance(node, ast.With) and any(_limits(item.context_expr) for item in node.items):
        within = _Function()
        for inner in node.body:
            _walk(inner, named, patterns, within)
        function.limited_names |= within.names
        return
    if isinstance(node, ast.Attribute):
        words = ast.unparse(node).split(".")
        if words[0] in named:
            function.names.add(".".join([named[words[0]], *words[1:]]))
        elif node.attr in METHODS:
            function.methods.add(node.attr)
        function.searches |= node.attr in _SEARCHES and words[0] in {*patterns, "re"}
    elif isinstance(node, ast.Name) and node.id in named:
        function.names.add(named[node.id])
    for inner in ast.iter_child_nodes(node):
        _walk(inner, named, patterns, function)


def _limits(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and ast.unparse(expression.func) in _LIMITS
