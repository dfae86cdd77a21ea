"""A campaign whose window sweep was measured."""

import pytest

from apps.agents.models import Agent
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests.results.measuring import Measured
from tests.workers import factories as agents


@pytest.fixture
def pair(pair: list[Node]) -> list[Node]:
    """Return the two nodes, whose agents were heard of just now."""
    if not Agent.objects.filter(node__in=pair).exists():
        agents.enrol(*pair)
    return pair


@pytest.fixture
def measured(measured_before: Measured) -> Campaign:
    """Return a finished campaign of two windows, two repetitions each."""
    return measured_before.campaign
