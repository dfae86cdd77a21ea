"""A pytest plugin: what goes before what among the tests."""

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import pytest

# Each of these takes minutes of one worker; the longest first.
LONG_GROUPS = ("quiet", "stack", "agent-0", "agent-1", "lab", "launch-service", "web-connections", "agents")
# Folders whose tests wait so long that two workers share their files, each with a server of its own.
SHARED = ("agent",)
# Tests of real programs, which wait more than they work.
WAITING = ("tests/bench/tools/", "tests/benchmarks/", "tests/lab/", "tests/launch/")
# The file that is there until the quiet tests are over, made by the controller for its workers; and for how long (s)
# the others wait for that: a worker that died with them takes nobody along.
_QUIET = "FATHOM_TEST_QUIET"
_PATIENCE_S = 600.0

_waits = False


def pytest_configure(config: pytest.Config) -> None:
    """Have the workers begin with what must be quiet, if there will be workers that hold groups together."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "loadgroup":
        folder = tempfile.mkdtemp(prefix="fathom-quiet-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ[_QUIET] = str(Path(folder) / "pending")
        _quiet_file().touch()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the long groups begin, and spread the tests that wait over those that work, if several workers run them.

    pytest-xdist hands tests out in this order. Were all that wait in a row, the processor would be idle with them.
    Tests that talk to one server process are a group by folder, or two: it writes to the database for as long as it
    lives.
    """
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        if _is_quiet(item) and _group_of(item) != "quiet":
            item.add_marker(pytest.mark.xdist_group("quiet"))
    served = [i for i in items if "server_process" in getattr(i, "fixturenames", ()) and not _group_of(i)]
    files = sorted({item.path for item in served})
    for item in served:
        folder = item.path.parent.name
        name = f"{folder}-{files.index(item.path) % 2}" if folder in SHARED else folder
        item.add_marker(pytest.mark.xdist_group(name))
    long = [item for item in items if _group_of(item) in LONG_GROUPS]
    rest = [item for item in items if _group_of(item) not in LONG_GROUPS]
    waiting = [item for item in rest if item.nodeid.startswith(WAITING)]
    working = [item for item in rest if not item.nodeid.startswith(WAITING)]
    long.sort(key=lambda item: LONG_GROUPS.index(_group_of(item)))
    places = [
        *((number / len(waiting), item) for number, item in enumerate(waiting)),
        *((number / len(working), item) for number, item in enumerate(working)),
    ]
    items[:] = [*long, *(item for _place, item in sorted(places, key=lambda place: place[0]))]


def pytest_collection_finish(session: pytest.Session) -> None:
    """See whether there is anything to wait for; have the collector pass over ten thousand tests that never go."""
    global _waits
    _waits = _QUIET in os.environ and any(_is_quiet(item) for item in session.items)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Let tests that measure go first and alone: beside five workers a rate is not that of the line.

    To prefer them would not do: Linux weighs sessions, not processes, where it groups these by itself (autogroup).
    """
    if not _is_quiet(item):
        if _waits:
            _wait_until_quiet_is_over()
        return (yield)
    try:
        return (yield)
    finally:
        if _waits and (nextitem is None or not _is_quiet(nextitem)):
            _quiet_file().unlink(missing_ok=True)


def _wait_until_quiet_is_over() -> None:
    global _waits
    deadline = time.monotonic() + _PATIENCE_S
    while _quiet_file().exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    _waits = False


def _quiet_file() -> Path:
    return Path(os.environ[_QUIET])


def _is_quiet(item: pytest.Item) -> bool:
    return item.get_closest_marker("quiet") is not None


def _group_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else ""
