"""What is read again is written whole: a kill or a full disk leaves what was there."""

import ast
from pathlib import Path

import pytest

from apps.core.whole_files import write_whole
from launch.home import ROOT
from launch.local_agents import LocalAgent, kept

# What is never read again by the service, or is no file of a disk.
ELSEWHERE = {
    "launch/apt.py": "apt's own list, made anew at each set-up",
    "launch/backup.py": "an archive's draft, which is put in its place whole",
    "launch/bootstrap.py": "the environment's pointer, made anew at each set-up",
    "launch/catalogue.py": "the checkout's own catalogue, which is in its history",
    "launch/leash.py": "the kernel's files",
    "launch/packages.py": "one package of a lock, in a folder of its own that is removed",
    "launch/lines.py": "the null device",
}


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_whole(path, "before")
    # The draft cannot be written.
    (tmp_path / "kept.json.new").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert path.stat().st_mode & 0o777 == 0o600


def in_place(source: str) -> list[str]:
    """Return the names of calls that write a file in its place."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [call.func.attr for call in calls if isinstance(call.func, ast.Attribute)]
    opened = [
        "open"
        for call in calls
        if (isinstance(call.func, ast.Attribute) and call.func.attr == "open")
        and any(isinstance(word, ast.Constant) and str(word.value).startswith("w") for word in call.args)
    ]
    return [name for name in named if name in ("write_text", "write_bytes")] + opened


def test_nobody_in_launch_writes_in_place() -> None:
    writers = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "launch").rglob("*.py")
        if "screenshots" not in path.parts and in_place(path.read_text())
    }
    assert writers == set(ELSEWHERE)


@pytest.mark.parametrize("name", ["start.json", "agent.json"])
@pytest.mark.parametrize("text", ["", "[]", "{", '{"else": 1}'])
def test_an_agent_whose_files_are_damaged_is_told_and_keeps_nobody_from_starting(
    tmp_path: Path, name: str, text: str
) -> None:
    for node in ("one", "two"):
        (tmp_path / node).mkdir()
        write_whole(tmp_path / node / "agent.json", '{"server": "http://127.0.0.1:8000"}')
        LocalAgent(tmp_path / node).keep()
    (tmp_path / "one" / name).write_text(text)
    events: list[tuple[str, str]] = []
    (agent,) = kept(tmp_path, lambda *event: events.append(event))
    assert agent.folder.name == "two"
    ((part, words),) = events
    assert part == "one"
    assert "enrol the node again" in words
