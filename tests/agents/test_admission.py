"""Who is let in by the agents' endpoints, over real HTTP: enrolment, tokens, retirement."""

import time

import pytest
from django.utils import timezone

from apps.accounts.models import Membership, Role
from apps.agents import services
from apps.agents.models import Agent, EnrolmentToken
from tests import factories as people
from tests.agents import factories
from tests.agents.live import Call, Client, LiveServer

pytestmark = pytest.mark.django_db(transaction=True)


def ask(server: LiveServer, token: str = "") -> Client:
    return Client(server.port, token)


def test_it_enrols_once_and_lets_the_agent_in(server: LiveServer) -> None:
    node = factories.node()
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    status, answer = ask(server).call("enrol", {"token": issued.text, "version": "1.0"})
    assert (status, answer["node"]) == (201, node.name)
    assert ask(server, answer["token"]).call("clock")[0] == 200
    assert answer["token"] not in str(Agent.objects.values())
    status, answer = ask(server).call("enrol", {"token": issued.text, "version": "1.0"})
    assert (status, answer["code"]) == (409, "used-token")


def test_it_refuses_to_enrol_with_a_token_it_never_made(server: LiveServer) -> None:
    for token in ("", "nonsense", "fth_enrol_0123456789ab_" + "x" * 43, "\ud800"):
        status, answer = ask(server).call("enrol", {"token": token})
        assert (status, answer["code"]) == (401, "unknown-token")


def test_it_refuses_to_enrol_with_an_expired_token(server: LiveServer) -> None:
    issued = services.issue_enrolment_token(node=factories.node(), user=factories.administrator(), now=timezone.now())
    EnrolmentToken.objects.update(expires_at=timezone.now())
    assert ask(server).call("enrol", {"token": issued.text})[1]["code"] == "expired-token"


def test_it_refuses_a_second_agent_on_a_node_until_the_first_is_retired(server: LiveServer) -> None:
    node = factories.node()
    first = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    second = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    agent, old_token = services.enrol_agent(token_text=first.text, version="1", now=timezone.now())
    Agent.objects.update(last_seen_at=timezone.now())
    status, answer = ask(server).call("enrol", {"token": second.text})
    assert (status, answer["code"]) == (409, "node-has-agent")
    assert "retire" in answer["detail"]
    services.retire_agent(agent=agent, now=timezone.now())
    status, answer = ask(server).call("enrol", {"token": second.text})
    assert status == 201
    assert ask(server, old_token).call("clock")[1]["code"] == "unknown-token"
    assert ask(server, answer["token"]).call("clock")[0] == 200


def test_it_refuses_who_brings_no_token_or_a_wrong_one(server: LiveServer) -> None:
    _agent, token = factories.agent()
    assert ask(server).call("poll")[0] == 401
    assert ask(server).call("poll", Authorization="Basic abc")[1]["code"] == "no-token"
    status, answer = ask(server, token[:-1] + ("a" if token[-1] != "a" else "b")).call("poll")
    assert (status, answer["code"]) == (401, "unknown-token")


def test_it_ends_the_poll_of_an_agent_that_is_retired_meanwhile(server: LiveServer) -> None:
    agent, token = factories.agent()
    poll = Call(ask(server, token), "poll")
    time.sleep(0.3)
    services.retire_agent(agent=agent, now=timezone.now())
    status, answer = poll.wait()
    assert (status, answer["code"]) == (401, "retired")
    assert ask(server, token).call("clock")[1]["code"] == "retired"


def test_it_refuses_a_token_of_who_no_longer_manages_the_team(server: LiveServer) -> None:
    node, eve = factories.node(), people.user()
    own = Membership.objects.create(team=node.team, user=eve, role=Role.MANAGER)
    issued = services.issue_enrolment_token(node=node, user=eve, now=timezone.now())
    own.delete()
    status, answer = ask(server).call("enrol", {"token": issued.text})
    assert (status, answer["code"]) == (401, "issuer-may-not")
    assert "have a manager of it make a new one" in answer["detail"]
    assert not Agent.objects.exists()
