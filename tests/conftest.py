"""What most tests begin with: the named cast, and two nodes to measure between."""

import pytest

from apps.testbeds.models import Node
from tests import factories
from tests.campaigns import factories as make


@pytest.fixture
def cast(db: None) -> factories.Cast:
    """Return the named cast."""
    return factories.cast()


@pytest.fixture
def pair(cast: factories.Cast) -> list[Node]:
    """Return two nodes joined by a link of 1 Gbit/s and 4.8 ms."""
    a, b = make.nodes(cast.team, "kisti01", "pnu01")
    make.link(a, b, "WAN")
    return [a, b]
