"""A look of the supervisor that fails stops nothing: it is told once, and the next one succeeds."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from launch.looks import Looks
from launch.process import Process
from tests.launch.conftest import Make
from tests.launch.watching import wait_for

SLEEP = ("sleep", "60")
Events = list[tuple[str, str]]


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Let this process open nothing more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_without_a_free_descriptor_it_goes_on_and_starts_again_what_ended(make: Make, events: Events) -> None:
    with make(Process("part", SLEEP)) as supervisor:
        first = supervisor.pids()["part"]
        with no_descriptor_left():
            os.kill(first, signal.SIGKILL)
            assert wait_for(lambda: any("Too many open files" in text for _part, text in events))
        assert wait_for(lambda: supervisor.pids().get("part", first) != first)


@pytest.mark.parametrize("written", [b"waits \xe2\x80", b"\xff\xfe", b"\x00"])
def test_a_sentence_that_is_cut_within_a_letter_stops_nothing(
    written: bytes, make: Make, events: Events, tmp_path: Path
) -> None:
    waits = tmp_path / "part.waits"
    with make(Process("part", SLEEP, waits=waits)) as supervisor:
        waits.write_bytes(written)
        assert wait_for(lambda: any(text.startswith("waits: ") for _part, text in events))
        assert "part" in supervisor.pids()


def test_each_failure_is_told_once_until_it_is_another_or_was_over() -> None:
    reports: Events = []
    looks = Looks(lambda name, text: reports.append((name, text)))
    faults: list[Exception | None] = [OSError("a"), OSError("a"), ValueError("b"), None, ValueError("b")]

    def look(fault: Exception | None) -> None:
        if fault:
            raise fault

    for fault in faults:
        looks.take("part", "cannot be looked after", look, fault)
    words = "cannot be looked after, trying again"
    assert reports == [("part", f"{words}: a"), *[("part", f"{words}: ValueError('b')")] * 2]
