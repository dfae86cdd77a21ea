"""Pages and REST of who claims to be an agent, what is wrong on its node, and what its lost jobs may still run."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, AgentInstance, Job
from apps.agents.troubles import Trouble
from tests import factories as people
from tests.agents import factories
from tests.agents.test_api import post
from tests.agents.test_instances import COPY, HERE, listen_and_hear, process
from tests.factories import signed_in
from workers import readiness

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(cast: people.Cast) -> Agent:
    """An agent with a rival, a full disk and a lost job whose program may still run."""
    found, _token = factories.agent(factories.node(cast.team, "dj-x"))
    first, second = process(**HERE), process(**COPY)
    now = timezone.now()
    services.admit_instance(agent_id=found.pk, introduction=first, now=now)
    listen_and_hear(found, 3)
    with pytest.raises(services.InstanceRefused):
        services.admit_instance(agent_id=found.pk, introduction=second, now=now)
    services.record_troubles(
        agent_id=found.pk, agent_troubles=[Trouble("work-full", "0 KiB are free in /w")], now=now
    )
    lost = {"state": Job.State.LOST, "fault": "agent-lost", "ended_at": now}
    factories.job(found.node, **lost, may_run_until=now + timedelta(hours=1))
    found.refresh_from_db()
    return found


def rival(agent: Agent) -> AgentInstance:
    return AgentInstance.objects.get(agent=agent, refused_at__isnull=False)


def test_the_pages_tell_all_of_it(cast: people.Cast, agent: Agent) -> None:
    page = signed_in(cast.alice).get(f"/agents/nodes/{agent.node_id}/").content.decode()
    rivals = ("dj-b (10.0.0.2)", "dj-a (10.0.0.1)")
    for text in (*rivals, "0 KiB are free in /w", "nothing is measured", "at most until"):
        assert text in page, text
    assert f"/agents/nodes/{agent.node_id}/instances/{rival(agent).key}/" in page
    listed = signed_in(cast.bob).get("/agents/").content.decode()
    assert "set aside" in listed
    assert "two machines" in listed


def test_who_only_reads_is_told_but_not_asked(cast: people.Cast, agent: Agent) -> None:
    page = signed_in(cast.bob).get(f"/agents/nodes/{agent.node_id}/").content.decode()
    assert "dj-b (10.0.0.2)" in page
    assert "/instances/" not in page
    assert "/clear/" not in page


def test_it_is_told_in_korean_too(cast: people.Cast, agent: Agent) -> None:
    client = signed_in(cast.alice)
    page = client.get(f"/agents/nodes/{agent.node_id}/", headers={"accept-language": "ko"}).content.decode()
    assert "작업 폴더가 있는 디스크가 가득 찼습니다" in page
    assert "두 번째 머신이 이 에이전트라고 주장" in page


def test_only_managers_choose_and_clear(cast: people.Cast, agent: Agent) -> None:
    paths = [f"/agents/nodes/{agent.node_id}/instances/{rival(agent).key}/", f"/agents/nodes/{agent.node_id}/clear/"]
    for person, status in ((cast.bob, 403), (cast.oscar, 403), (cast.charlie, 404)):
        for path in paths:
            assert signed_in(person).get(path).status_code == status, path
            assert signed_in(person).post(path).status_code == status, path
    agent.refresh_from_db()
    assert agent.instance.host == "dj-a"
    assert not Job.objects.filter(presumed_ended_at__isnull=False).exists()


def test_a_manager_chooses_after_being_asked(cast: people.Cast, agent: Agent) -> None:
    client, path = signed_in(cast.alice), f"/agents/nodes/{agent.node_id}/instances/{rival(agent).key}/"
    assert "dj-b (10.0.0.2)" in client.get(path).content.decode()
    agent.refresh_from_db()
    assert agent.instance.host == "dj-a"
    assert client.post(path).status_code == 302
    agent.refresh_from_db()
    assert agent.instance.host == "dj-b"
    assert client.get(f"/agents/nodes/{agent.node_id}/instances/{uuid.uuid4()}/").status_code == 404


def test_a_manager_says_that_nothing_runs_any_more(cast: people.Cast, agent: Agent) -> None:
    client, path = signed_in(cast.alice), f"/agents/nodes/{agent.node_id}/clear/"
    assert client.get(path).status_code == 200
    assert client.post(path).status_code == 302
    assert Job.objects.get().presumed_ended_at is not None
    assert "at most until" not in client.get(f"/agents/nodes/{agent.node_id}/").content.decode()


def test_rest_tells_and_does_the_same(cast: people.Cast, agent: Agent) -> None:
    path = f"/api/v1/agents/{agent.pk}/"
    found = signed_in(cast.alice).get(path).json()
    (trouble,) = found["troubles"]
    assert (trouble["code"], trouble["stops_measuring"]) == ("work-full", True)
    assert found["set_aside_at"] is not None
    assert found["may_run_until"] is not None
    assert (found["instance"]["host"], found["rivals"][0]["host"]) == ("dj-a", "dj-b")
    (listed,) = signed_in(cast.alice).get("/api/v1/agents/").json()["results"]
    assert listed["troubles"] == found["troubles"]
    wish = {"instance": found["rivals"][0]["key"]}
    for person, status in ((cast.charlie, 404), (cast.bob, 403), (cast.oscar, 403)):
        assert post(person, f"{path}choose/", wish).status_code == status
        assert post(person, f"{path}clear/").status_code == status
    assert post(cast.alice, f"{path}choose/", {"instance": "x"}).status_code == 400
    unknown = post(cast.alice, f"{path}choose/", {"instance": str(uuid.uuid4())})
    assert unknown.status_code == 400
    assert "no such process" in unknown.content.decode()
    assert post(cast.alice, f"{path}clear/").json()["may_run_until"] is None
    chosen = post(cast.alice, f"{path}choose/", wish).json()
    assert (chosen["instance"]["host"], chosen["rivals"]) == ("dj-b", [])


def test_a_campaign_is_told_before_it_begins(agent: Agent) -> None:
    told = [str(message) for message in readiness.node_warnings(nodes=[agent.node], now=timezone.now())]
    assert "The disk of the work folders on dj-x is full: 0 KiB are free in /w" in told
    assert any("dj-b (10.0.0.2) claims to be the agent of dj-x" in text for text in told)


def test_lists_ask_no_more_for_more_nodes(cast: people.Cast, agent: Agent, django_assert_max_num_queries) -> None:
    for _number in range(10):
        factories.agent(factories.node(cast.team))
    client = signed_in(cast.alice)
    client.get("/agents/")
    with django_assert_max_num_queries(16):
        client.get("/agents/")
    with django_assert_max_num_queries(16):
        client.get("/api/v1/agents/")
