"""The supervisor's lines on a full disk, and where nobody reads them."""

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from launch.lines import Lines


@contextmanager
def output_to(file: Path) -> Iterator[None]:
    """Have the standard output be a file; pytest puts its own in place before each test, so not in a fixture."""
    with file.open("w") as stdout, contextlib.redirect_stdout(stdout):
        yield


def send_to(path: Path | str, flags: int = os.O_WRONLY | os.O_APPEND) -> None:
    """Have the standard output lead elsewhere."""
    descriptor = os.open(path, flags)
    os.dup2(descriptor, sys.stdout.fileno())
    os.close(descriptor)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_after_a_full_disk_it_tells_again_and_how_much_was_lost(tmp_path: Path) -> None:
    output = tmp_path / "output"
    lines = Lines()
    with output_to(output):
        lines.write("web", "ready")
        send_to("/dev/full")
        for number in range(3000):
            lines.write("web", f"started again {number}")
        send_to(output)
        lines.write("web", "ready again")
        lines.write("beat", "ready")
    first, *rest = [line.split(maxsplit=1)[1] for line in output.read_text().splitlines() if line]
    assert first.split() == ["web", "ready"]
    assert rest[0].startswith("supervisor   3000 line(s) lost since ")
    assert "No space left" in rest[0]
    assert [line.split() for line in rest[1:]] == [["web", "ready", "again"], ["beat", "ready"]]


def test_where_nobody_reads_nothing_is_written_any_more() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    lines = Lines()
    with os.fdopen(writer, "w") as stdout, contextlib.redirect_stdout(stdout):
        lines.write("web", "ready")
        with sys.stdout as replacement:
            assert replacement.name == os.devnull
            lines.write("web", "ready")
