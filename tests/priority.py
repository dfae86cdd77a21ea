"""A pytest plugin: what goes before what among the tests, in the order of their start and on the processor."""

import gc
import os
from collections.abc import Generator

import pytest

# Each of these takes minutes of one worker; the longest first.
LONG_GROUPS = ("stack", "agent-0", "agent-1", "quiet", "lab", "launch-service", "web-connections", "agents")
# Folders whose tests wait so long that two workers share their files, each with a server of its own.
SHARED = ("agent",)
# Tests of real programs, which wait more than they work.
WAITING = ("tests/bench/tools/", "tests/benchmarks/", "tests/lab/", "tests/launch/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the long groups begin, and spread the tests that wait over those that work, if several workers run them.

    pytest-xdist hands tests out in this order. Were all that wait in a row, the processor would be idle with them.
    Tests that talk to one server process are a group by folder, or two: it writes to the database for as long as it
    lives.
    """
    if not getattr(config.option, "loadgroup", False):
        return
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
    """Have the collector pass over what collecting left, ten thousand tests: none of it ever goes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give a test that measures a rate, and every process that it starts, the usual priority; only root can.

    `make test` runs those beside it as nice ones.
    """
    if item.get_closest_marker("quiet") is None or os.geteuid() != 0:
        return (yield)
    was = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, min(was, 0))
    try:
        return (yield)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, was)


def _group_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else ""
