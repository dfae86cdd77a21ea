"""A pytest plugin: a test that measures a rate goes before those beside it, which `make test` runs as nice ones."""

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give the test, and every process that it starts, the usual priority; only root can."""
    if item.get_closest_marker("quiet") is None or os.geteuid() != 0:
        return (yield)
    was = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, min(was, 0))
    try:
        return (yield)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, was)
