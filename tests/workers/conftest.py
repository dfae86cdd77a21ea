"""What most tests of workers begin with."""

from types import SimpleNamespace

import pytest

from apps.testbeds.models import Node
from tests import factories
from tests.campaigns import factories as make
from tests.workers import factories as workers


@pytest.fixture
def cast(db: None) -> SimpleNamespace:
    """Return the named cast."""
    return factories.cast()


@pytest.fixture
def pair(cast: SimpleNamespace) -> list[Node]:
    """Return two nodes, joined by a link, whose agents were heard of just now."""
    a, b = make.nodes(cast.team, "kisti01", "pnu01")
    make.link(a, b, "WAN")
    workers.enrol(a, b)
    return [a, b]
