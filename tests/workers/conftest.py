"""What most tests of workers begin with."""

import pytest

from apps.testbeds.models import Node
from tests.workers import factories as workers


@pytest.fixture
def pair(pair: list[Node]) -> list[Node]:
    """Return the two nodes, whose agents were heard of just now."""
    workers.enrol(*pair)
    return pair
