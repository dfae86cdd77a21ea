"""What most tests begin with: the named cast, and two nodes to measure between."""

import functools
import sys
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest
import redis
from asgiref.sync import SyncToAsync
from django.db import connections
from django.utils import timezone, translation

from apps.core import broker, queue, starvation
from apps.testbeds.models import Node
from tests import factories, kept, outages
from tests.campaigns import factories as make
from tests.launch import migrated as patterns
from tests.results import measuring

# How long a draw takes depends on what runs beside it.
hypothesis.settings.register_profile(
    "crowded", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("crowded")


@pytest.fixture
def measured_before(db: None) -> measuring.Measured:
    """Return a finished campaign between two nodes, as it was measured for the first test that has one."""
    return kept.world("measured", measuring.sweep)


def _measured_before(request: pytest.FixtureRequest) -> measuring.Measured | None:
    """Return what a test's measured campaign comes with, if the test has one."""
    name = "measured_before"
    return request.getfixturevalue(name) if name in request.fixturenames else None


@pytest.fixture
def cast(db: None, request: pytest.FixtureRequest) -> factories.Cast:
    """Return the named cast."""
    before = _measured_before(request)
    return before.cast if before else factories.cast()


@pytest.fixture
def pair(cast: factories.Cast, request: pytest.FixtureRequest) -> list[Node]:
    """Return two nodes joined by a link of 1 Gbit/s and 4.8 ms."""
    before = _measured_before(request)
    return before.pair if before else make.joined(cast.team)


@pytest.fixture(scope="session")
def migrated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a service that need not migrate begins with (tests.launch.migrated), the same for all workers."""
    own = tmp_path_factory.getbasetemp()
    return patterns.make_once(own.parent if hasattr(request.config, "workerinput") else own)


@functools.cache
def _broker() -> redis.Redis:
    return broker.client(timeout_s=10)


@pytest.fixture(autouse=True)
def _empty_queues() -> None:
    """Remove what no worker took in earlier tests: nobody is reminded of anything through a crowded queue."""
    _broker().delete(queue.SHORT, queue.LONG, queue.CLOCK)


@pytest.fixture(autouse=True)
def _broker_known_to_be_there() -> None:
    """Wait until what an earlier test had of an outage is over for this process, too."""
    outages.until_the_broker_is_back()


@pytest.fixture(autouse=True)
def _language_and_zone_of_the_service() -> None:
    """Begin as a new thread does: a request leaves its language and its time zone behind in the thread."""
    translation.deactivate()
    timezone.deactivate()


@pytest.fixture(autouse=True)
def _no_connection_left_behind() -> Generator[None]:
    """Close what a test left open in the thread of asynchronous code: a later one may use no database there."""
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


@pytest.fixture(autouse=True)
def _nobody_listens_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget that an earlier test of this process listened to agents: it stopped, which ends a web process."""
    for name in ("heard", "tried_to_hear"):
        monkeypatch.setattr(starvation, name, starvation.Lapse())


@pytest.fixture(autouse=True)
def _no_web_process() -> Generator[None]:
    """Find a test that loads the web process's application into its own: its pool and its looks would stay there."""
    yield
    assert "apps.config.web" not in sys.modules, "load it in a process of its own"
