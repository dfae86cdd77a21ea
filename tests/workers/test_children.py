"""A worker's child that hangs is told from one that waits or computes, and is killed alone, as one that grows is."""

import os
import re
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import PyDLL
from pathlib import Path
from typing import Any

import billiard
import pytest

from tests.hanging import held
from workers import children

AFTER_S = 4.0
MOST_BYTES = 800 << 20
# So long they are watched, also those that shall live (s).
WATCHED_S = 9.0


Work = Callable[[Path], None]
# {what a child did: (its usual state, after how long (s) it was killed, or None)}
Seen = dict[str, tuple[str, float | None]]


def sleeps(_pipe: Path) -> None:
    """Wait for work, as an idle child does."""
    time.sleep(600)


def waits_for_a_program(_pipe: Path) -> None:
    """Wait as a rendering does; the program itself does nothing either."""
    subprocess.run(["sleep", "600"], check=True)


def waits_for_a_server(_pipe: Path) -> None:
    """Wait for an answer, as of a database or a mail server."""
    ours, _theirs = socket.socketpair()
    ours.recv(1)


def opens_a_pipe(pipe: Path) -> None:
    """Wait in a call of the kernel which a signal ends."""
    pipe.open("rb")


def computes(_pipe: Path) -> None:
    """Compute without ever letting another thread of its own run."""
    re.match(r"(a+)+$", "a" * 64 + "b")


def keeps_others_from_running(_pipe: Path) -> None:
    """Wait in a library that lets no other thread of its own run."""
    PyDLL(None).sleep(600)


def waits_in_the_kernel(pipe: Path) -> None:
    """Wait for what no signal but SIGKILL ends (state D): for a child before its exec, which opens a pipe first."""
    os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, str(pipe), os.O_RDONLY, 0)])


def stops(_pipe: Path) -> None:
    """Be stopped."""
    os.kill(os.getpid(), signal.SIGSTOP)


def never_ticks(_pipe: Path) -> None:
    """Hang before it ticks, as a child whose start waits for a lock that nobody lets go."""
    time.sleep(600)


def grows(_pipe: Path) -> None:
    """Hold more memory than anybody may."""
    _memory = b"x" * MOST_BYTES
    time.sleep(600)


LIVE = [sleeps, waits_for_a_program, waits_for_a_server, opens_a_pipe, computes]
HANG = [keeps_others_from_running, waits_in_the_kernel, stops, never_ticks]
HELD = "held by a tracer"


def begin(offspring: children.Children, index: int, work: Work, pipe: Path) -> Any:
    """Return a child that is at some work, forked as a worker's are."""

    def carry_out() -> None:
        os.setpgid(0, 0)
        if work is not never_ticks:
            offspring.begin_ticking()
        work(pipe)

    child = billiard.get_context("fork").Process(target=carry_out)
    child.index = index
    child.start()
    return child


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Return what became of each child, all of them watched at once."""
    pipe = tmp_path_factory.mktemp("children") / "pipe"
    os.mkfifo(pipe)
    works: dict[str, Work] = {work.__name__: work for work in (*LIVE, *HANG, grows)} | {HELD: sleeps}
    begun: dict[str, Any] = {}
    offspring = children.Children(lambda: list(begun.values()), after_s=AFTER_S, most_bytes=MOST_BYTES)
    # Another worker of the same program, whose children have the same places.
    other = children.Children(list, after_s=AFTER_S, most_bytes=MOST_BYTES)
    strangers = [begin(other, index, sleeps, pipe) for index in range(len(works))]
    try:
        for index, (name, work) in enumerate(works.items()):
            begun[name] = begin(offspring, index, work, pipe)
        with pytest.MonkeyPatch.context() as patched, held([begun[HELD].pid]):
            patched.setattr(children, "_LATER_THAN_SUPERVISOR_S", 0.0)
            yield watch(offspring, begun)
    finally:
        for child in (*begun.values(), *strangers):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def watch(offspring: children.Children, begun: dict[str, Any]) -> Seen:
    """Return what became of children that are watched for some seconds."""
    # While it is killed it runs once more.
    states: dict[str, Counter[str]] = {name: Counter() for name in begun}
    ended: dict[str, float] = {}
    since = time.monotonic()
    while (lasted := time.monotonic() - since) < WATCHED_S:
        offspring.watch()
        for name, child in begun.items():
            if watched_child := offspring._watched.get(child.pid):
                states[name][watched_child.look.main.state] += 1
        ended |= {name: lasted for name, child in begun.items() if name not in ended and not child.is_alive()}
        time.sleep(0.2)
    return {name: (seen.most_common(1)[0][0] if seen else "", ended.get(name)) for name, seen in states.items()}


@pytest.mark.parametrize("work", LIVE)
def test_one_that_waits_or_computes_lives(work: Work, watched: Seen) -> None:
    state, killed_after = watched[work.__name__]
    assert (state in "RS", killed_after) == (True, None), state


@pytest.mark.parametrize(("name", "state"), [*((work.__name__, "") for work in HANG), (HELD, "t")])
def test_one_that_hangs_is_killed(name: str, state: str, watched: Seen) -> None:
    usual, killed_after = watched[name]
    assert killed_after is not None, usual
    assert AFTER_S < killed_after < WATCHED_S
    assert usual.startswith(state)


def test_one_that_grows_is_killed(watched: Seen) -> None:
    _state, killed_after = watched["grows"]
    assert killed_after is not None
    assert killed_after < AFTER_S


def test_the_ways_to_hang_are_those_of_the_kernel(watched: Seen) -> None:
    assert {watched[name][0] for name in ("waits_in_the_kernel", "stops", HELD)} == {"D", "T", "t"}
