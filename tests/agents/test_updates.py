"""Agents of an earlier version than the service's are marked, and can be brought up to date."""

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents import program
from apps.agents.models import Agent
from tests import factories as people
from tests.agents import factories
from workers import agent as workers_agent
from workers import readiness

pytestmark = pytest.mark.django_db


def page(person: object, address: str) -> str:
    client = Client()
    client.force_login(person)
    return client.get(address).content.decode()


def agent_of(cast: people.Cast, version: str) -> Agent:
    made, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now(), version=version)
    return made


def test_the_service_knows_the_version_of_its_program() -> None:
    assert program.version() == workers_agent.VERSION


@pytest.mark.parametrize(
    ("version", "is_older"),
    [("1.0", True), ("0.99", True), ("1", True), ("dev", True), ("1.1", False), ("1.1.1", False), ("1.10", False)],
)
def test_versions_are_compared_by_their_numbers(
    cast: people.Cast, version: str, is_older: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "version", lambda: "1.1")
    assert program.is_older(version) is is_older
    assert agent_of(cast, version).is_outdated is is_older


def test_it_is_marked_in_the_list_and_its_page_has_the_commands(cast: people.Cast) -> None:
    old, new = agent_of(cast, "1.0"), agent_of(cast, program.version())
    listed = page(cast.bob, "/agents/")
    assert listed.count("text-bg-warning") == 1
    shown = page(cast.bob, f"/agents/nodes/{old.node_id}/")
    assert "of version 1.0" in shown
    assert "curl -fsSo fathom-agent.pyz http://testserver/agents/fathom-agent.pyz" in shown
    assert "systemctl restart fathom-agent.service" in shown
    assert "systemctl restart" not in page(cast.bob, f"/agents/nodes/{new.node_id}/")


@pytest.mark.parametrize("changes", [{"version": ""}, {"version": "1.0", "retired_at": timezone.now()}])
def test_one_that_never_said_its_version_or_is_retired_is_not_marked(cast: people.Cast, changes: dict) -> None:
    made = agent_of(cast, "1.0")
    Agent.objects.filter(pk=made.pk).update(**changes)
    made.refresh_from_db()
    assert not made.is_outdated
    assert "systemctl restart" not in page(cast.bob, f"/agents/nodes/{made.node_id}/")


def test_rest_tells_it(cast: people.Cast) -> None:
    old = agent_of(cast, "1.0")
    client = Client()
    client.force_login(cast.bob)
    assert client.get(f"/api/v1/agents/{old.pk}/").json()["is_outdated"] is True


def test_a_campaign_is_told_of_it(cast: people.Cast) -> None:
    old, new = agent_of(cast, "1.0"), agent_of(cast, program.version())
    (warning,) = readiness.node_warnings(nodes=[new.node, old.node], now=timezone.now())
    assert str(warning).startswith(f"The agent on {old.node.name} is of an earlier version")
