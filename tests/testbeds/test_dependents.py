"""What other rooms hang on the inventory keeps it from being deleted, and is named with its page."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.testbeds import models, queries
from apps.testbeds.queries.dependents import MOST_OF_A_KIND
from tests import factories as people
from tests.agents import factories as agents
from tests.campaigns import factories as campaigns
from tests.testbeds import factories

pytestmark = pytest.mark.django_db


def test_a_nodes_agent_and_campaigns_are_linked(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team, nodes=1)
    agent, _token = agents.agent(on=here.near[0])
    draft = campaigns.campaign(cast)
    campaigns.experiment(draft, here.near[0], here.far[0])
    client.force_login(cast.oscar)
    response = client.post(reverse("testbeds:node_delete", args=[here.near[0].pk]))
    page = response.content.decode()
    assert response.status_code == 409
    assert f'<a href="{reverse("agents:detail", args=[here.near[0].pk])}">{agent}</a>' in page
    assert f'<a href="{draft.get_absolute_url()}">{draft}</a>' in page
    assert models.Node.objects.filter(pk=here.near[0].pk).exists()


def test_a_clusters_campaigns_are_linked(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team)
    cluster = factories.cluster(cast.team, "clients", *here.near)
    draft = campaigns.campaign(cast)
    campaigns.experiment(draft, cluster, here.far[0])
    client.force_login(cast.oscar)
    assert queries.dependents(cluster) == [draft]
    assert client.post(reverse("testbeds:cluster_delete", args=[cluster.pk])).status_code == 409


def test_of_very_many_of_a_kind_some_are_named(django_assert_max_num_queries) -> None:
    node = factories.node(people.team())
    for _number in range(MOST_OF_A_KIND + 5):
        agents.job(node, "ping", "10.0.0.1")
    with django_assert_max_num_queries(12):
        assert len(queries.dependents(node)) == MOST_OF_A_KIND


def test_what_nobody_can_delete_is_not_asked_to_be_deleted(client: Client) -> None:
    cast = people.cast()
    node = factories.node(cast.team)
    agents.job(node, "ping", "10.0.0.1")
    agent, _token = agents.agent(node)
    client.force_login(cast.oscar)
    page = client.get(reverse("testbeds:node_delete", args=[node.pk])).content.decode()
    assert "what was measured with it refers to it and is kept" in page
    assert "Retire its agent instead" in page
    assert f'href="{agent.get_absolute_url()}"' in page
    assert "delete these first" not in page
    agent.delete()
    page = client.get(reverse("testbeds:node_delete", args=[node.pk])).content.decode()
    assert "Leave it as it is" in page
