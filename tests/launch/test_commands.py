"""A command of a start that meets a database which starts again is run once more, and tells what it was to tell."""

import os
import time
from pathlib import Path

import pytest

from launch import commands

# Away as it is asked first, and with its arguments from then on.
MANAGE = """
import os, pathlib, sys
begun = pathlib.Path("begun")
if not begun.exists():
    begun.touch()
    sys.exit("The database is away" if "fails" in sys.argv else os.EX_TEMPFAIL)
print(*sys.argv[1:], sys.stdin.read())
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have another program in the place of manage.py."""
    (tmp_path / "manage.py").write_text(MANAGE)
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    return tmp_path


def test_it_is_run_again_with_what_it_needs_then() -> None:
    assert commands.run(["make", "it"], {}, "text", again=["--renew"]).split() == ["make", "it", "--renew", "text"]


def test_who_stops_the_start_waits_for_nothing() -> None:
    with pytest.raises(commands.ManageError):
        commands.run(["make", "it"], {}, is_over=lambda: True)


def test_what_fails_for_another_reason_is_not_run_again() -> None:
    with pytest.raises(commands.ManageError, match="make failed:\nThe database is away"):
        commands.run(["make", "fails"], {})


def test_it_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / "manage.py").write_text(f"raise SystemExit({os.EX_TEMPFAIL})")
    monkeypatch.setattr(commands, "PATIENCE_S", 0.1)
    with pytest.raises(commands.ManageError):
        commands.run(["make"], {})


def test_one_that_is_under_way_ends_with_the_service(root: Path) -> None:
    (root / "manage.py").write_text("import time; time.sleep(600)")
    began = time.monotonic()
    with pytest.raises(commands.ManageError):
        commands.run(["make"], {}, "text", is_over=lambda: True)
    assert time.monotonic() - began < 60
