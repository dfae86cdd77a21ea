"""A program of the service that somebody kills is lost, not failed: its work is tried again, and told of at last."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from apps.archive.exports import parquet
from apps.archive.exports.columns import ExportColumn
from apps.comparison.figures import renderer
from apps.core import outage, programs, space, troubles
from apps.core.programs import ProgramLostError
from apps.reports.files import services as files
from apps.reports.files import typesetter
from apps.reports.files.formats import Format
from apps.reports.models import Edition
from apps.toolbox import attempts
from launch.home import ROOT
from tests.comparison.figures import charts
from tests.reports.files.conftest import edition
from tests.reports.files.test_queue import ask, sent
from workers import tasks

__all__ = ["edition", "sent"]

KILLED = """#!/bin/sh
echo begun >> "$0.log"
kill -KILL $$
"""
# Of each module that starts a program: what needs it, how often it is begun, and what is raised.
CASES: dict[ModuleType, list[tuple[Callable[[], object], int, type[Exception]]]] = {
    attempts: [(lambda: programs.persist(lambda: attempts._read("{}")), 3, outage.Busy)],
    # What is sent by then cannot be sent again.
    parquet: [(lambda: list(parquet.converted([b"a\n"], [ExportColumn("a", "string", "")])), 1, outage.Busy)],
    renderer: [
        (lambda: renderer.render(charts.LINE, "svg"), 3, outage.Busy),
        (lambda: list(renderer.render_each([charts.LINE], "svg")), 1, ProgramLostError),
    ],
    typesetter: [(lambda: typesetter.run({}, lambda _share: None), 1, ProgramLostError)],
}


def test_each_module_that_starts_programs_has_a_case() -> None:
    starting = {
        path
        for path in (ROOT / "apps").rglob("*.py")
        if re.search(r"subprocess\.(Popen|run|call|check_\w+)\(|create_subprocess", path.read_text(encoding="utf-8"))
    }
    assert starting == {Path(module.__file__ or "") for module in CASES}


@pytest.mark.parametrize(
    ("module", "need", "begun", "error"),
    [(module, *case) for module, cases in CASES.items() for case in cases],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_killed_is_lost(
    module: ModuleType,
    need: Callable[[], object],
    begun: int,
    error: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "program"
    program.write_text(KILLED)
    program.chmod(0o755)
    monkeypatch.setattr(module.sys, "executable", str(program))
    with pytest.raises(error) as raised:
        need()
    assert (tmp_path / "program.log").read_text().split() == ["begun"] * begun
    if error is outage.Busy:
        assert str(raised.value) == programs.GIVEN_UP


@pytest.mark.parametrize("module", [renderer, typesetter], ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    ("script", "free", "is_ours"),
    [
        ("echo 'OSError: [Errno 28] No space left on device' >&2; exit 1", 1 << 40, True),
        ("exit 120", 1 << 40, True),
        ("exit 1", 0, True),
        ("exit 1", 1 << 40, False),
        ("echo odd >&2; exit 1", 0, False),
    ],
)
def test_a_program_that_fails_for_a_full_disk_is_tried_again(
    module: ModuleType, script: str, free: int, is_ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(module.sys, "executable", str(program))
    monkeypatch.setattr(space, "free_bytes", lambda: free)
    need = CASES[module][-1][0]
    with pytest.raises(Exception, match=r".") as raised:
        need()
    assert troubles.is_ours(raised.value) is is_ours


def test_a_file_whose_program_is_killed_is_made_by_another_and_given_up_in_the_end(
    edition: Edition,
    sent: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    losses = [True]

    def render(_document: object, _imprint: object, output: Path, _progress: object) -> None:
        if losses.pop():
            raise ProgramLostError
        output.write_text("whole")

    monkeypatch.setattr(Format, "load", lambda _format: render)
    losses[:] = [False, True]
    made = ask(edition)
    tasks.render()
    made.refresh_from_db()
    assert (made.state, made.attempts) == ("waiting", 1)
    tasks.render()
    made.refresh_from_db()
    assert (made.state, made.attempts) == ("done", 2)
    made.path.unlink()
    losses[:] = [True] * files.MOST_ATTEMPTS
    ask(edition)
    for _attempt in range(files.MOST_ATTEMPTS):
        tasks.render()
    made.refresh_from_db()
    assert (made.state, made.attempts) == ("failed", files.MOST_ATTEMPTS)
    assert made.error["msgid"] == programs.GIVEN_UP
