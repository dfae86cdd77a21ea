"""What root writes down in another user's folder is that user's, and goes nowhere by that user's links."""

import logging
from pathlib import Path

import pytest

from apps.config.settings import logs
from apps.core import audit
from launch.home import Home
from tests.launch.test_owners import home, needs_root, others
from tests.launch.test_planted_links import as_user, of_root, state_of

__all__ = ["home", "of_root"]
pytestmark = needs_root


def line_in(log: Path) -> None:
    handler = audit.LogFile(str(log))
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "a line", None, None))
    handler.close()


@pytest.mark.parametrize("name", logs.FILES)
@pytest.mark.parametrize("has_folder", [True, False])
def test_a_log_that_root_writes_first_is_the_folders_users(home: Home, has_folder: bool, name: str) -> None:
    if has_folder:
        as_user(home, home.logs.mkdir)
    line_in(home.logs / name)
    assert others(home.folder) == []
    as_user(home, lambda: line_in(home.logs / name))
    assert (home.logs / name).read_text() == "a line\na line\n"


@pytest.mark.parametrize("kind", ["symlink", "hard link", "folder"])
def test_no_line_of_roots_goes_where_a_users_link_leads(
    home: Home, of_root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "folder":
        as_user(home, lambda: home.logs.symlink_to(of_root))
    else:
        as_user(home, home.logs.mkdir)
        log, target = home.logs / "lock", of_root / "lock"
        as_user(home, lambda: log.symlink_to(target)) if kind == "symlink" else log.hardlink_to(target)
    before = state_of(of_root)
    line_in(home.logs / "lock")
    line_in(home.logs / "new")
    monkeypatch.setattr(audit, "_MOST_BYTES", 1)
    line_in(home.logs / "state.json")
    assert state_of(of_root) == before


def test_a_log_of_roots_in_a_users_folder_has_roots_lines_and_stays_roots(home: Home) -> None:
    as_user(home, home.logs.mkdir)
    (home.logs / "audit.log").write_text("")
    line_in(home.logs / "audit.log")
    assert (home.logs / "audit.log").read_text() == "a line\n"
    assert (home.logs / "audit.log").stat().st_uid == 0


def test_a_log_that_cannot_be_written_is_told_once_and_stops_nothing(
    home: Home, of_root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    as_user(home, home.logs.mkdir)
    as_user(home, lambda: (home.logs / "audit.log").symlink_to(of_root / "lock"))
    handler = audit.LogFile(str(home.logs / "audit.log"))
    record = logging.LogRecord("x", logging.INFO, "", 0, "a line", None, None)
    for _ in range(3):
        handler.emit(record)
    assert [text.partition(": ")[0] for text in caplog.messages] == [f"Lines are left out of {home.logs}/audit.log"]
    (home.logs / "audit.log").unlink()
    handler.emit(record)
    handler.close()
    assert (home.logs / "audit.log").read_text() == "a line\n"
