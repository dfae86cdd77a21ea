"""Of processes that held one folder's lock the later one works, whenever what they say arrives."""

import pytest
from django.utils import timezone

from apps.agents import queries
from apps.agents.models import Agent
from tests.agents import factories
from tests.agents.test_instances import HERE, admit, admit_refused, at_work, process

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return factories.agent()[0]


def test_an_introduction_that_comes_late_changes_nothing(agent: Agent) -> None:
    dead, late, living = (process(**HERE, began_ns=instant) for instant in (1, 2, 3))
    admit(agent, dead)
    admit(agent, living)
    admit_refused(agent, late)
    assert at_work(agent) == living.key
    assert not queries.rivals_of([agent.node_id], timezone.now())
    # What comes late does not come again.
    admit_refused(agent, late)
    (rival,) = queries.rivals_of([agent.node_id], timezone.now())[agent.node_id]
    assert (rival.key, at_work(agent)) == (late.key, living.key)


def test_one_that_goes_on_with_the_memory_of_another_does_not_displace_it(agent: Agent) -> None:
    first, copy = process(**HERE, began_ns=7), process(**HERE, began_ns=7)
    admit(agent, first)
    key = admit_refused(agent, copy)
    assert at_work(agent) == first.key
    (rival,) = queries.rivals_of([agent.node_id], timezone.now())[agent.node_id]
    assert rival.key == key
