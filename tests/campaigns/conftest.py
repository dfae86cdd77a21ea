"""What most tests of campaigns begin with."""

from types import SimpleNamespace

import pytest

from apps.testbeds.models import Node
from tests import factories
from tests.campaigns import factories as make


@pytest.fixture
def cast(db: None) -> SimpleNamespace:
    """Return the named cast."""
    return factories.cast()


@pytest.fixture
def pair(cast: SimpleNamespace) -> list[Node]:
    """Return two nodes joined by a link of 1 Gbit/s."""
    a, b = make.nodes(cast.team, "kisti01", "pnu01")
    make.link(a, b, "WAN")
    return [a, b]
