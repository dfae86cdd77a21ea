"""Pages of agents lead on: a lost one is started again, a second one of a machine has a folder of its own."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents.models import Agent
from apps.testbeds.models import NodeAddress
from tests import factories as people
from tests.agents import factories
from tests.factories import signed_in

pytestmark = pytest.mark.django_db


def test_a_lost_agents_page_says_how_to_start_it_again(cast: people.Cast) -> None:
    factories.listening()
    agent, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now() - timedelta(hours=1))
    path = f"/agents/nodes/{agent.node_id}/"
    page = signed_in(cast.alice).get(path).content.decode()
    assert "systemctl restart fathom-agent" in page
    assert 'id="retire-lost"' in page
    NodeAddress.objects.create(node=agent.node, address="127.0.0.1")
    shared = signed_in(cast.alice).get(path).content.decode()
    assert f"systemctl restart fathom-agent-{agent.node.name}.service" in shared
    assert f"run --dir ~/fathom-agent-{agent.node.name}" in shared
    assert 'id="retire-lost"' not in signed_in(cast.oscar).get(path).content.decode()
    Agent.objects.update(last_seen_at=timezone.now())
    assert "systemctl restart fathom-agent" not in signed_in(cast.alice).get(path).content.decode()


def test_a_node_that_shares_its_machine_gets_a_folder_and_a_unit_of_its_own(cast: people.Cast) -> None:
    node = factories.node(cast.team, "left")
    path = f"/agents/nodes/{node.pk}/enrol/"
    assert "fathom-agent-left" not in signed_in(cast.alice).post(path).content.decode()
    NodeAddress.objects.create(node=node, address="::1")
    page = signed_in(cast.alice).post(path).content.decode()
    for text in (
        "its agent gets a folder of its own",
        "--node left ",
        "--dir ~/fathom-agent-left",
        "fathom-agent-left.service",
    ):
        assert text in page


def test_a_state_that_there_is_not_is_told(cast: people.Cast) -> None:
    factories.node(cast.team)
    page = signed_in(cast.alice).get("/agents/?state=nonsense").content.decode()
    assert "There is no state “nonsense”" in page
    assert "There is no state" not in signed_in(cast.alice).get("/agents/?state=idle").content.decode()
