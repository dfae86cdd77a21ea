"""Whatever writes a file, or gives one its name, waits for the disk, or says here why it need not.

A row, a stamp or a name that says that a file is there may be on the disk long before what the file holds: so every
function that writes, renames or unpacks is found in its source, and has to go through a door that waits.
"""

import ast
import errno
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.core import whole_files
from launch import owners
from tests.power import Disk
from tests.test_architecture import ROOT, tree_of
from workers.agent import config, durable, enrolment

# Functions of these names wait for the disk themselves: of apps/core/whole_files.py, workers/agent/durable.py.
DOORS = {"write_whole", "put_in_place", "move", "sync", "sync_all", "sync_folder", "fsync"}
# Calls that give a file what it holds, or its name.
WRITES = {"write_text", "write_bytes", "touch", "rename", "renames", "extract", "extractall", "copyfile", "copy2"}
WRITES |= {"copytree", "symlink_to", "hardlink_to", "mkstemp", "NamedTemporaryFile"}
SIGN = "a sign for processes that live, of no worth to those after them"
SCRATCH = "a folder of this process's own, which goes with it"
KERNEL = "files of the kernel"
LOCK = "a lock, of which the content is nothing"
LOG = "lines of a log"
PART = "part of a draft, which its caller puts in place, or sends"
SPOOL = "waited for by `_sync`, before the server hears of it"
REASONS = {
    "apps/archive/imports/uploads.py:_keep_one": "its caller waits for all files of an import at once",
    "apps/archive/zip_stream.py:add": PART,
    "apps/core/audit.py:_open": LOG,
    "apps/core/holding.py:_tell": SIGN,
    "apps/core/root_files.py:_open_among_a_users": LOG,
    "apps/core/root_files.py:set_aside": LOG,
    "apps/core/scratch.py:_is_owned": LOCK,
    "apps/core/scratch.py:folder": LOCK,
    "apps/reports/files/data.py:render": PART,
    "apps/reports/files/figures.py:draw": SCRATCH,
    "apps/reports/files/figures.py:drawings_as_png": SCRATCH,
    "apps/reports/files/pdf.py:render": SCRATCH,
    "apps/reports/files/program/__main__.py:_linked": SCRATCH,
    "apps/reports/files/program/__main__.py:main": SCRATCH,
    "apps/reports/files/tables.py:_add": PART,
    "apps/testbeds/management/commands/inventory.py:_write": "for whoever asked: may be a pipe, and no row names it",
    "launch/apt.py:private_options": SCRATCH,
    "launch/backup.py:_add": PART,
    "launch/backup.py:_dump": PART,
    "launch/bootstrap.py:compile_messages": "the program that writes the draft waits for it",
    "launch/bootstrap.py:install": "compared at each start, and written anew",
    "launch/broker_files.py:__call__": "messages, which are sent again",
    "launch/catalogue.py:collect": "the checkout's own catalogue, which is in its history",
    "launch/claims.py:claimed": LOCK,
    "launch/drafts.py:_made": "a draft, which is put in place",
    "launch/last_step.py:_extract": "its caller waits for all that is unpacked",
    "launch/last_step.py:_require_secret": "nothing is written: whether it could be is tried",
    "launch/leash.py:_enter_user_namespace": KERNEL,
    "launch/liveness.py:make": SIGN,
    "launch/lines.py:_note": "the null device",
    "launch/packages.py:_install_by_uv": SCRATCH,
    "launch/process.py:__init__": LOG,
    "launch/process.py:_keep_log": LOG,
    "launch/process.py:_trim": LOG,
    "workers/agent/condition.py:write": SIGN,
    "workers/agent/folders.py:make": "what a job works on, and ends with it",
    "workers/agent/instance.py:mark_place": SIGN,
    "workers/agent/lock.py:take": LOCK,
    "workers/agent/settings/kernel.py:write": KERNEL,
    "workers/agent/spool.py:_append": SPOOL,
    "workers/agent/spool.py:_mend": SPOOL,
    "workers/agent/troubles.py:_try": "nothing is kept: whether it could be is tried",
    "workers/signs.py:_run": SIGN,
    "workers/waiting.py:until_none": SIGN,
}


def writers(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield the name of each function that writes a file or names one, and whether it passes a door."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = [call for call in own_nodes(node) if isinstance(call, ast.Call)]
            if any(writes(call) for call in calls):
                yield node.name, any(map(waits, calls))


def waits(call: ast.Call) -> bool:
    """Say whether a call waits for the disk; `shutil.move` bears the name of one that does."""
    return name_of(call) in DOORS and not is_of_module(call, "shutil")


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function and in no function of its own: those of it count for themselves."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from own_nodes(node)


def name_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def writes(call: ast.Call) -> bool:
    """Say whether a call writes a file or gives it a name; of `replace`, if its argument is no text to look for."""
    name = name_of(call)
    words = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = [str(word.value) for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    if name in ("open", "open_in", "fdopen"):
        flags = {part.attr for word in words for part in ast.walk(word) if isinstance(part, ast.Attribute)}
        modes = [text for text in texts if len(text) < 4 and set(text) <= set("rwaxbt+")]
        return bool({"O_WRONLY", "O_RDWR", "O_CREAT"} & flags) or any(set("wax+") & set(mode) for mode in modes)
    if name == "replace":
        return len(words) == 1 and not call.keywords and not is_of_module(call, "dataclasses")
    return name in WRITES or (name == "move" and not waits(call))


def is_of_module(call: ast.Call, module: str) -> bool:
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(value, ast.Name) and value.id == module


def found() -> set[str]:
    """Return file and function of all that write without a door."""
    sources = [path for room in ("apps", "workers", "launch") for path in sorted((ROOT / room).rglob("*.py"))]
    return {
        f"{path.relative_to(ROOT)}:{name}"
        for path in sources
        if not {"screenshots", "migrations"} & set(path.parts)
        for name, is_safe in writers(tree_of(path))
        if not is_safe
    }


def test_whoever_writes_waits_for_the_disk_or_says_why_not() -> None:
    assert found() == set(REASONS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("path.open('wb')", True),
        ("path.open(mode='a')", True),
        ("open(path, 'x')", True),
        ("os.open(path, os.O_RDWR | os.O_CREAT)", True),
        ("path.write_text('w')", True),
        ("draft.replace(path)", True),
        ("draft.rename(path)", True),
        ("shutil.move(draft, path)", True),
        ("archive.extract(info, folder)", True),
        ("path.open('rb')", False),
        ("path.open()", False),
        ("text.replace('a', 'b')", False),
        ("os.open(path, os.O_RDONLY)", False),
    ],
)
def test_the_rule_itself_knows_what_writes(line: str, expected: bool) -> None:
    function = f"def f():\n    {line}"
    assert list(writers(ast.parse(function))) == [("f", False)] * expected
    assert list(writers(ast.parse(f"{function}\n    sync(path)"))) == [("f", True)] * expected


def test_an_agents_identity_is_on_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    config.save(tmp_path, config.Config(server="http://127.0.0.1:1", token="t", node="n"))
    assert disk.may_lose(tmp_path) == []
    config.write_private(tmp_path, "proposal", b"a token that was asked for")
    assert disk.may_lose(tmp_path) == []
    with enrolment.set_aside(tmp_path):
        assert disk.may_lose(tmp_path) == []


def test_every_door_waits() -> None:
    for path in (Path("apps/core/whole_files.py"), Path("workers/agent/durable.py")):
        functions = {node.name: node for node in tree_of(ROOT / path).body if isinstance(node, ast.FunctionDef)}
        for name, function in functions.items():
            assert {name_of(call) for call in ast.walk(function) if isinstance(call, ast.Call)} & DOORS, name


def write_and_name(folder: Path, put_in_place: Callable[[Path, Path], None]) -> str:
    (folder / "draft").write_text("whole")
    put_in_place(folder / "draft", folder / "kept")
    return (folder / "kept").read_text()


BOTH = pytest.mark.parametrize("put_in_place", [whole_files.put_in_place, durable.put_in_place])


@BOTH
@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_folder_that_knows_no_waiting_keeps_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_in_place: Callable[[Path, Path], None], number: int
) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert write_and_name(tmp_path, put_in_place) == "whole"


@BOTH
def test_other_troubles_of_a_folder_are_not_kept_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_in_place: Callable[[Path, Path], None]
) -> None:
    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="Input/output error"):
        write_and_name(tmp_path, put_in_place)


@BOTH
def test_a_folder_that_may_be_written_and_not_listed_takes_a_file(
    tmp_path: Path, put_in_place: Callable[[Path, Path], None]
) -> None:
    box = tmp_path / "box"
    box.mkdir()
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    os.chown(box, user, -1)
    box.chmod(0o300)
    for parent in box.parents:
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o011)
    try:
        with owners.acting(box):
            with pytest.raises(PermissionError):
                list(box.iterdir())
            assert write_and_name(box, put_in_place) == "whole"
    finally:
        box.chmod(0o700)
