"""The house holds: imports run one way, and nothing grows past its size."""

import ast
import functools
import re
import subprocess
from pathlib import Path

import pytest

# Each file is read once.
pytestmark = pytest.mark.xdist_group("architecture")
ROOT = Path(__file__).resolve().parents[1]

# Each room may import those after it; rooms on one line know nothing of each other.
ORDER = [
    ["apps.config"],
    ["workers"],
    ["apps.archive"],
    ["apps.reports"],
    ["apps.tuning"],
    ["apps.comparison"],
    ["apps.results"],
    ["apps.campaigns", "apps.agents"],
    ["apps.toolbox"],
    ["apps.testbeds"],
    ["apps.accounts"],
    ["apps.core"],
    ["apps.bench"],
]
# Programs of their own: they import nothing of the service.
ALONE = ["workers.agent", "launch", "lab"]
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}
# What each room must never import, whoever else may.
FORBIDDEN = {
    "apps.bench": {
        "django",
        "celery",
        "channels",
        "rest_framework",
        "time",
        "datetime",
        "os",
        "subprocess",
        "socket",
    },
    "apps": {"celery.shared_task"},
    "workers.agent": {"django", "psycopg", "yaml", "redis", "celery"},
}
# The composition root imports the Celery application; what the demo prints has the units of the science.
ALLOWED = {("apps.config", "workers"), ("launch", "apps.bench")}
# Modules that need nothing but Python, for which two would be twins.
SHARED = {
    ("launch", "apps.core.whole_files"),
    ("launch", "apps.core.regular_files"),
    ("launch", "apps.core.server_words"),
}
SIZE = 300


def room_of(module: str) -> str | None:
    """Return the room a module belongs to: the longest name in the plan that it starts with."""
    names = [*FLOOR, *ALONE]
    return max((name for name in names if module == name or module.startswith(name + ".")), key=len, default=None)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports_of(tree: ast.Module) -> set[str]:
    """Return every module that a source imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def breaks(module: str, imported: str) -> bool:
    """Say whether `module` may not import `imported`."""
    here, there = room_of(module), room_of(imported)
    if here is None or there is None or here == there or (here, there) in ALLOWED:
        return False
    if any(here == room and f"{imported}.".startswith(f"{name}.") for room, name in SHARED):
        return False
    if here in ALONE or there in ALONE:
        return True
    return FLOOR[here] >= FLOOR[there]


SOURCES = sorted(
    path
    for folder in ("apps", "workers", "launch", "lab")
    for path in (ROOT / folder).rglob("*.py")
    if "migrations" not in path.parts
)


def test_imports_run_one_way() -> None:
    found = {(module_of(path), name) for path in SOURCES for name in imports_of(tree_of(path))}
    assert not {(module, name) for module, name in found if breaks(module, name) or is_forbidden(module, name)}


def is_forbidden(module: str, name: str) -> bool:
    """Say whether no module of the room may import this, whoever else may."""
    rooms = [room for room in FORBIDDEN if module == room or module.startswith(room + ".")]
    return any({name, name.split(".")[0]} & FORBIDDEN[room] for room in rooms)


def test_the_rule_itself_refuses_what_it_should() -> None:
    assert breaks("apps.bench.units", "apps.core.models")
    assert breaks("apps.campaigns.services", "apps.agents.models")
    assert breaks("apps.agents.services", "workers.tasks")
    assert breaks("workers.agent.main", "apps.bench.units")
    assert breaks("launch.home", "apps.core")
    assert not breaks("launch.home", "apps.core.whole_files.write_whole")
    assert not breaks("workers.tasks", "apps.agents.services")
    assert is_forbidden("apps.bench.units", "os.path")
    assert is_forbidden("workers.agent", "yaml")
    assert not is_forbidden("apps.core.models", "os")
    hidden = "def f():\n    from apps.agents import services\n"
    assert imports_of(ast.parse(hidden)) >= {"apps.agents.services"}


def test_no_import_hides_in_a_function() -> None:
    hidden = []
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [item for item in ast.walk(node) if isinstance(item, ast.Import | ast.ImportFrom)]
                hidden += [f"{module_of(path)}:{item.lineno}" for item in inner if room_of_import(item)]
    assert not hidden


def room_of_import(node: ast.Import | ast.ImportFrom) -> str | None:
    """Return the room of ours that an import reaches, if any."""
    if isinstance(node, ast.ImportFrom):
        return room_of(node.module or "")
    return next((room_of(alias.name) for alias in node.names if room_of(alias.name)), None)


MODULES = {module_of(path): path for path in SOURCES}


def folder_of(module: str) -> str:
    """Return the package that a module's file lies in."""
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


def ways() -> set[tuple[str, str]]:
    """Return (module, module that it imports) of all that is ours."""
    both = {(module, name) for module, path in MODULES.items() for name in imports_of(tree_of(path))}
    reached = {(module, name if name in MODULES else name.rpartition(".")[0]) for module, name in both}
    return {(module, name) for module, name in reached if name in MODULES and name != module}


def parting(one: str, other: str) -> tuple[str, str] | None:
    """Return the two folders, side by side, in which one module and another lie; None if one lies above the other."""
    first, second = folder_of(one).split("."), folder_of(other).split(".")
    level = next((n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    return None if level is None else (".".join(first[: level + 1]), ".".join(second[: level + 1]))


def test_folders_of_a_room_form_no_circle() -> None:
    arrows = {pair for one, other in ways() if room_of(one) == room_of(other) and (pair := parting(one, other))}
    assert not {tuple(sorted(pair)) for pair in arrows if pair[::-1] in arrows}
    assert parting("apps.bench.rules.tcp.bdp", "apps.bench.rules.path.means") == (
        "apps.bench.rules.tcp",
        "apps.bench.rules.path",
    )
    assert parting("apps.bench.judges", "apps.bench.rules.path.means") is None


def owner_of(module: str) -> str | None:
    """Return the folder whose own a private module is, None of a public one."""
    names = module.split(".")
    place = next((n for n, name in enumerate(names) if name.startswith("_") and not name.endswith("__")), None)
    return None if place is None else ".".join(names[:place])


def test_private_modules_are_imported_by_their_own_folder_only() -> None:
    owned = {(one, other, owner) for one, other in ways() if (owner := owner_of(other))}
    assert not {(one, other) for one, other, owner in owned if not f"{folder_of(one)}.".startswith(f"{owner}.")}
    assert owner_of("apps.bench.tools._fio.logs") == "apps.bench.tools"
    assert owner_of("launch.__main__") is None


def test_no_file_is_longer_than_it_should_be() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py", "*.js", "*.css", "*.html"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    paths = [ROOT / name for name in listed if name and "/migrations/" not in name]
    long = {str(path): n for path in paths if path.exists() and (n := len(path.read_text().splitlines())) > SIZE}
    assert not long


def test_no_signals() -> None:
    assert not [module_of(path) for path in SOURCES if "django.dispatch" in imports_of(tree_of(path))]


def test_mail_leaves_through_one_door() -> None:
    senders = {
        module_of(path)
        for path in SOURCES
        if any("mail" in name.split(".") for name in imports_of(tree_of(path)) if name.startswith("django.core"))
    }
    senders |= {module_of(path) for path in SOURCES if "smtplib" in imports_of(tree_of(path))}
    assert senders == {"apps.accounts.post"}


# Who closes a connection otherwise has a thread, or a process, of its own, and no transaction in it.
CLOSERS = {
    "apps.core.connections",
    "apps.core.streams",
    "apps.core.isolation",
    "apps.core.timeouts",
    "workers.celery",
}
_CLOSING = {"close_old_connections", "close_all", "close_if_unusable_or_obsolete"}


def closes_connections(tree: ast.AST) -> bool:
    """Say whether a file closes database connections itself."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    texts = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    return bool(names & _CLOSING or {"connection.close", "db.connection.close"} & texts)


def test_connections_are_given_back_by_one_door_which_no_transaction_passes() -> None:
    assert {module_of(path) for path in SOURCES if closes_connections(tree_of(path))} == CLOSERS
    assert closes_connections(ast.parse("from django.db import close_old_connections as given_back"))
    assert closes_connections(ast.parse("connection.close()"))
    assert not closes_connections(ast.parse("file.close()"))


# Which figure counts is one fact that the database keeps (`Sample.counts`): only these ask flags, marks or warm-ups,
# to say why a figure is left out, to read what a point was given, and to name the flags of a report; digests tell
# whether all of it is as it was.
JUDGES = {
    "apps.results.doubts", "apps.results.digests", "apps.tuning.evidence.points", "apps.reports.campaign.material",
}  # fmt: skip
_TERMS = {"trial__is_warmup", "trial__invalid_at", "flags__contains", "result__flags__contains"}
_IN_SQL = re.compile(r"\b(is_warmup|invalid_at|severity|flags)\b")


def judgements_of(tree: ast.AST) -> set[str]:
    """Return by what a file judges itself which samples count."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)} & {"is_invalid"}
    terms = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg in _TERMS}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return names | terms | {found for text in texts if "results_sample" in text for found in _IN_SQL.findall(text)}


def test_only_one_place_judges_which_figures_count() -> None:
    rooms = ("apps.reports", "apps.tuning", "apps.results", "workers")
    judging = {
        name: found
        for path in SOURCES
        if (name := module_of(path)).startswith(rooms)
        and ".migrations." not in name
        and (found := judgements_of(tree_of(path)))
    }
    assert judging.keys() == JUDGES, judging
    assert judgements_of(ast.parse("Sample.objects.filter(trial__is_warmup=False)")) == {"trial__is_warmup"}
    assert judgements_of(ast.parse("[x for x in flags if is_invalid(x, metric)]")) == {"is_invalid"}
    sql = "Q = 'SELECT FROM results_sample s JOIN t ON NOT t.is_warmup AND t.invalid_at IS NULL'"
    assert judgements_of(ast.parse(sql)) == {"is_warmup", "invalid_at"}


def test_each_folder_of_tests_is_a_package() -> None:
    """Else what lies in it has two names, and its conftest is loaded twice, as `exports.conftest`, too."""
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    inner = {above for folder in folders for above in folder.parents if (ROOT / "tests") in (above, *above.parents)}
    assert {folder for folder in folders | inner if not (folder / "__init__.py").exists()} == set()
