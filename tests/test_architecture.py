"""The house holds: imports run one way, and nothing grows past its size."""

import ast
import functools
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
    ["apps.reports"],
    ["apps.tuning"],
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
    assert senders == {"apps.accounts.posting"}
