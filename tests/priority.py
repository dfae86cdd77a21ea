"""A pytest plugin: what goes before what among the tests."""

import contextlib
import gc
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.running.units import group_of

# Each of these takes minutes of one worker; the longest first.
LONG_GROUPS = ("stack", "agent-0", "agent-1", "lab", "launch-service", "web-connections", "agents")
# Folders whose tests wait so long that two workers share their files, each with a server of its own.
SHARED = ("agent",)
# Tests that start no process: they may run beside the quiet ones, with what of the processors these leave.
BESIDE = ("tests/accounts/", "tests/campaigns/", "tests/tuning/")
# Tests of real programs, which wait more than they work.
WAITING = ("tests/bench/tools/", "tests/benchmarks/", "tests/lab/", "tests/launch/")
# The file that is there until the quiet tests are over, made by the controller for its workers; and for how long (s)
# the others wait for that: a worker that died with them takes nobody along.
_QUIET = "FATHOM_TEST_QUIET"
_PATIENCE_S = 600.0
# Nearly all that is made up to the end of the collection stays: to look through it takes a fifth of the time.
gc.disable()

_waits = False
_is_behind = False


def pytest_configure(config: pytest.Config) -> None:
    """Have the workers begin with what must be quiet, if there will be workers."""
    if config.option.workers:
        folder = tempfile.mkdtemp(prefix="fathom-quiet-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ[_QUIET] = str(Path(folder) / "pending")
        _quiet_file().touch()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the long groups begin, and spread the tests that wait over those that work, if several workers run them.

    Tests are handed out in this order. Were all that wait in a row, the processor would be idle with them.
    Tests that talk to one server process are a group by folder, or two: it writes to the database for as long as it
    lives. So are others that share what is set up for a file or a folder.
    """
    if not config.option.workers:
        return
    for item in items:
        if _is_quiet(item) and group_of(item) != "quiet":
            item.add_marker(pytest.mark.xdist_group("quiet"))
    served = [i for i in items if "server_process" in getattr(i, "fixturenames", ()) and not group_of(i)]
    files = sorted({item.path for item in served})
    for item in served:
        folder = item.path.parent.name
        name = f"{folder}-{files.index(item.path) % 2}" if folder in SHARED else folder
        item.add_marker(pytest.mark.xdist_group(name))
    for item in items:
        if not group_of(item) and (place := _sharing(item)):
            item.add_marker(pytest.mark.xdist_group(place))
    quiet = [item for item in items if _is_quiet(item)]
    beside = [item for item in items if _may_be_beside(item)] if quiet else []
    first = {*quiet, *beside}
    long = [item for item in items if group_of(item) in LONG_GROUPS and item not in first]
    rest = [item for item in items if group_of(item) not in LONG_GROUPS and item not in first]
    waiting = [item for item in rest if item.nodeid.startswith(WAITING)]
    working = [item for item in rest if not item.nodeid.startswith(WAITING)]
    long.sort(key=lambda item: LONG_GROUPS.index(group_of(item)))
    places = [
        *((number / len(waiting), item) for number, item in enumerate(waiting)),
        *((number / len(working), item) for number, item in enumerate(working)),
    ]
    items[:] = [*quiet, *beside, *long, *(item for _place, item in sorted(places, key=lambda place: place[0]))]


def _sharing(item: pytest.Item) -> str:
    """Return the file or folder for whose tests something is set up once that a test needs, empty for none.

    Handed out by the piece, among tests of others, each of them would have it set up again.
    """
    known = getattr(item, "_fixtureinfo", None)
    used = [definitions[-1] for definitions in known.name2fixturedefs.values()] if known else []
    # Those of plugins are of no place.
    scopes = {fixture.scope: fixture.baseid for fixture in used if fixture.baseid}
    return str(scopes.get("package", item.nodeid.partition("::")[0] if "module" in scopes else ""))


def pytest_collection_finish(session: pytest.Session) -> None:
    """See whether there is anything to wait for; have the collector pass over ten thousand tests that never go."""
    global _waits
    _waits = _QUIET in os.environ and any(_is_quiet(item) for item in session.items)
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Let tests that measure go first, and nothing beside them that takes a processor from them."""
    if not _is_quiet(item):
        if _waits:
            _give_way(item)
        return (yield)
    try:
        return (yield)
    finally:
        if _waits and (nextitem is None or not _is_quiet(nextitem)):
            _end_quiet()


def _give_way(item: pytest.Item) -> None:
    """Let a test stand behind all else until the quiet ones are over, or wait until then."""
    global _waits
    if _may_be_beside(item) and _quiet_file().exists():
        _stand_behind()
        if _quiet_file().exists():
            return
    deadline = time.monotonic() + _PATIENCE_S
    while _quiet_file().exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    _waits = False
    _stand_in_line()


def _may_be_beside(item: pytest.Item) -> bool:
    """Say whether a test may run beside the quiet ones; only root may come back from behind."""
    is_plain = not group_of(item) and not _is_quiet(item)
    return is_plain and item.nodeid.startswith(BESIDE) and os.geteuid() == 0 and hasattr(os, "SCHED_IDLE")


def _end_quiet() -> None:
    """Let the others go on, and those that stand behind come forward in the middle of their tests.

    By themselves they would get to the end of these only when nobody else wants a processor any more.
    """
    _quiet_file().unlink(missing_ok=True)
    for note in _quiet_file().parent.iterdir():
        with contextlib.suppress(OSError):
            _come_forward(int(note.name))


def _stand_behind() -> None:
    """Have this worker get what the others leave.

    A low priority alone would not do: Linux weighs sessions, not processes, where it groups these by itself.
    """
    global _is_behind
    if _is_behind:
        return
    _is_behind = True
    if os.getsid(0) != os.getpid():
        os.setsid()
    _weigh_session(os.getpid(), 19)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    (_quiet_file().parent / str(os.getpid())).touch()


def _stand_in_line() -> None:
    global _is_behind
    if _is_behind:
        _is_behind = False
        _come_forward(os.getpid())


def _come_forward(pid: int) -> None:
    """Give a worker the same as others."""
    _weigh_session(pid, 0)
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))


def _weigh_session(pid: int, nice: int) -> None:
    with contextlib.suppress(OSError):
        # Not there where the kernel does not group sessions.
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))


def _quiet_file() -> Path:
    return Path(os.environ[_QUIET])


def _is_quiet(item: pytest.Item) -> bool:
    return item.get_closest_marker("quiet") is not None
