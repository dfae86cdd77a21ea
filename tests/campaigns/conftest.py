"""What tests of reasons to wait begin with: two nodes whose agents call ten minutes later, and a campaign on them."""

from datetime import timedelta

import pytest

from apps.agents.models import Agent
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests import factories
from tests.campaigns import factories as make
from tests.workers import factories as workers

LATER = make.NOW + timedelta(minutes=10)


@pytest.fixture
def nodes(pair: list[Node]) -> list[Node]:
    """Return two nodes whose agents call."""
    workers.enrol(*pair)
    Agent.objects.update(last_seen_at=LATER)
    return pair


@pytest.fixture
def campaign(cast: factories.Cast, nodes: list[Node]) -> Campaign:
    """Return a running campaign of four trials on the two nodes."""
    return make.launched(cast, *nodes)
