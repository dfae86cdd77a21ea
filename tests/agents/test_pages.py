"""Pages of agents: who sees what, who may do what, and that they keep themselves up to date."""

import hashlib
import io
import re
import zipfile
import zlib
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents import program, services
from apps.agents.facts import MOST_SHOWN, checked_facts
from apps.agents.models import Agent, EnrolmentToken, FactSnapshot, Job, JobOutput
from tests import factories as people
from tests.agents import factories
from tests.factories import signed_in
from tests.pages import flat
from tests.testbeds import factories as inventory

pytestmark = pytest.mark.django_db

PART = {"HTTP_HX_REQUEST": "true"}


def addresses(pk: int) -> list[str]:
    return [f"/agents/nodes/{pk}/", *(f"/agents/nodes/{pk}/{name}/" for name in ("enrol", "retire", "forget"))]


def test_it_asks_strangers_to_sign_in(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    job = factories.job(node)
    paths = ["/agents/", *addresses(node.pk), f"/agents/jobs/{job.pk}/stdout/", "/agents/facts/1/"]
    for path in paths:
        assert Client().get(path).headers["Location"].startswith("/accounts/"), path


def test_it_hides_other_teams_nodes(cast: people.Cast) -> None:
    node = factories.node(cast.team, "hidden-node")
    agent, _token = factories.agent(node)
    services.record_facts(agent_id=agent.pk, facts={"hostname": "x"}, version="1")
    job = factories.job(node)
    charlie = signed_in(cast.charlie)
    assert b"hidden-node" not in charlie.get("/agents/").content
    facts = FactSnapshot.objects.get()
    for path in [*addresses(node.pk), f"/agents/jobs/{job.pk}/stdout/", f"/agents/facts/{facts.pk}/"]:
        assert charlie.get(path).status_code == 404, path
    for path in addresses(node.pk)[1:]:
        assert charlie.post(path).status_code == 404, path


def test_only_managers_enrol_retire_and_remove(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    factories.agent(node)
    for person in (cast.bob, cast.oscar):
        client = signed_in(person)
        assert client.get(f"/agents/nodes/{node.pk}/").status_code == 200
        for path in addresses(node.pk)[1:]:
            assert client.get(path).status_code == 403, path
            assert client.post(path).status_code == 403, path
    assert Agent.objects.get().retired_at is None
    assert EnrolmentToken.objects.filter(used_at=None).count() == 0


def test_it_says_what_to_do_when_there_is_no_node(cast: people.Cast) -> None:
    page = signed_in(cast.oscar).get("/agents/").content.decode()
    assert "No nodes yet" in page
    assert "/inventory/nodes/new" in page or "Describe a node" in page
    assert "Describe a node</a>" not in signed_in(cast.bob).get("/agents/").content.decode()


def test_it_shows_every_state_and_finds_agents_by_it(cast: people.Cast) -> None:
    now = factories.listening()
    bare = factories.node(cast.team, "node-bare")
    fresh, _ = factories.agent(factories.node(cast.team, "node-fresh"))
    idle, _ = factories.agent(factories.node(cast.team, "node-idle"), last_seen_at=now)
    busy, _ = factories.agent(factories.node(cast.team, "node-busy"), last_seen_at=now)
    factories.job(busy.node, state=Job.State.RUNNING)
    factories.agent(factories.node(cast.team, "node-lost"), last_seen_at=now - timedelta(seconds=31))
    factories.agent(factories.node(cast.team, "node-retired"), last_seen_at=now, retired_at=now)
    client = signed_in(cast.bob)
    page = client.get("/agents/").content.decode()
    expected = {
        "never-seen": {bare.name, fresh.node.name},
        "idle": {idle.node.name},
        "busy": {busy.node.name},
        "lost": {"node-lost"},
        "retired": {"node-retired"},
    }
    for state, names in expected.items():
        assert f"state-{state}" in page
        found = set(re.findall(r">(node-\w+)<", client.get("/agents/", {"state": state}).content.decode()))
        assert found == names
    assert "Nothing matches" in client.get("/agents/", {"q": "no such\0 node"}).content.decode()
    assert set(re.findall(r">(node-\w+)<", client.get("/agents/", {"q": "NODE idl"}).content.decode())) == {
        "node-idle"
    }


def test_it_finds_agents_by_team(cast: people.Cast) -> None:
    other = people.team("other", viewer=cast.bob)
    factories.node(cast.team, "node-here")
    factories.node(other, "node-there")
    found = re.findall(r">(node-\w+)<", signed_in(cast.bob).get("/agents/", {"team": "other"}).content.decode())
    assert found == ["node-there"]


def test_the_table_is_fetched_again_only_when_it_changed(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team, "node-a"))
    client = signed_in(cast.bob)
    page = client.get("/agents/").content.decode()
    again = re.search(r'hx-get="(\?seen=\w+)"', page)
    assert again
    assert client.get(f"/agents/{again[1]}", **PART).status_code == 204
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=timezone.now())
    answer = client.get(f"/agents/{again[1]}", **PART)
    assert answer.status_code == 200
    part = answer.content.decode()
    assert "state-idle" in part
    assert "<html" not in part
    assert again[1] not in part


def test_the_agents_page_shows_facts_changes_and_jobs(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team))
    facts = {
        "hostname": "host-one",
        "cpu": {"model": "A <b>fast</b> CPU", "sockets": 1, "cores": 8, "threads": 16},
        "memory": {"ram_bytes": 2**35},
        "interfaces": [{"name": "eth0", "mtu": 1500, "speed_bps": 10**10, "addresses": ["10.0.0.1/24"]}],
        "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456"},
        "tools": {"iperf3": {"path": "/usr/bin/iperf3", "version": "iperf 3.12"}},
    }
    services.record_facts(agent_id=agent.pk, facts=facts, version="1.0")
    facts["interfaces"][0]["mtu"] = 9000
    services.record_facts(agent_id=agent.pk, facts=facts, version="1.0")
    job = factories.job(
        agent.node, "iperf3", "-c", "a b", state=Job.State.ENDED, fault="not-found", fault_detail="gone"
    )
    page = signed_in(cast.bob).get(f"/agents/nodes/{agent.node_id}/").content.decode()
    for text in ("host-one", "32 GiB", "10.0.0.1/24", "4096 131072 6291456", "iperf 3.12", "Gbit/s"):
        assert text in page, text
    assert "A &lt;b&gt;fast&lt;/b&gt; CPU" in page
    assert "interfaces › eth0 › mtu</code>: 1500 → 9000" in flat(page)
    assert "iperf3 -c &#x27;a b&#x27;" in page
    assert "not-found: gone" in page
    assert f"/agents/jobs/{job.pk}/stdout/" not in page, "there is no output to download"
    older = FactSnapshot.objects.last()
    assert "1500" in signed_in(cast.bob).get(f"/agents/facts/{older.pk}/").content.decode()


@pytest.mark.parametrize(
    ("confinement", "text"),
    [
        ({"own_shared_memory": True}, "each job has shared memory of its own"),
        ({"own_shared_memory": False}, "jobs leave shared memory to each other"),
        # An agent of an earlier version says nothing of it.
        ({"landlock": 7}, "jobs leave shared memory to each other"),
        ({"own_ipc": True}, "each job has System V segments and queues of its own"),
    ],
)
def test_it_says_whose_shared_memory_jobs_have(cast: people.Cast, confinement: dict, text: str) -> None:
    agent, _token = factories.agent(factories.node(cast.team))
    services.record_facts(agent_id=agent.pk, facts=checked_facts({"confinement": confinement}), version="1.0")
    assert text in signed_in(cast.bob).get(f"/agents/nodes/{agent.node_id}/").content.decode()


def test_of_long_lists_of_facts_the_pages_show_the_first_and_say_so(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    agent, _token = factories.agent(node)
    facts = {
        "sysctls": {f"net.x{number}": "value" for number in range(20_000)},
        "interfaces": [{"name": f"e{number}", "addresses": ["10.0.0.1"] * 300} for number in range(201)],
    }
    services.record_facts(agent_id=agent.pk, facts=facts, version="1")
    for path in (f"/agents/nodes/{node.pk}/", f"/agents/facts/{FactSnapshot.objects.get().pk}/"):
        page = signed_in(cast.bob).get(path).content.decode()
        # Of each interface that is shown 100 addresses more.
        assert f"{19_800 + 1 + 200 * 100} entries of long lists" in flat(page), path
        assert page.count("net.x") == MOST_SHOWN == page.count("<td>e"), path
    told = signed_in(cast.bob).get(f"/api/v1/agents/{agent.pk}/").json()["facts"]
    assert len(told["sysctls"]) == 20_000


def test_a_node_without_an_agent_has_a_page_that_says_what_to_do(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    path = f"/agents/nodes/{node.pk}/"
    assert f"{path}enrol/" in signed_in(cast.alice).get(path).content.decode()
    page = signed_in(cast.bob).get(path).content.decode()
    assert f"{path}enrol/" not in page
    assert "A manager of the team can enrol one." in page


def test_it_makes_a_command_with_a_token_that_works_once(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    client = signed_in(cast.alice)
    path = f"/agents/nodes/{node.pk}/enrol/"
    assert b"fth_enrol_" not in client.get(path).content
    answer = client.post(path, HTTP_HOST="fathom.example.org:8443", secure=True)
    page = answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    assert "curl -fsSo fathom-agent.pyz https://fathom.example.org:8443/agents/fathom-agent.pyz" in page
    assert "--server https://fathom.example.org:8443 --token fth_enrol_" in page
    assert "web.urlopen(&quot;https://fathom.example.org:8443/agents/fathom-agent.pyz&quot;)" in page
    assert program.current().sha256 in page
    token = re.search(r"fth_enrol_\w+_[\w-]{43}", page)
    assert token
    assert EnrolmentToken.objects.get().created_by == cast.alice
    services.enrol_agent(token_text=token[0], version="1.0", now=timezone.now())
    with pytest.raises(services.EnrolmentRefused, match="has been used"):
        services.enrol_agent(token_text=token[0], version="1.0", now=timezone.now())
    assert "Waiting for the agent" in page
    Agent.objects.update(last_seen_at=timezone.now())
    arrived = client.get(f"{path}?seen=0", **PART).content.decode()
    assert "The agent is here" in arrived


def test_it_takes_the_address_of_the_settings(cast: people.Cast, settings: object) -> None:
    settings.PUBLIC_URL = "https://public.example.org/"
    page = signed_in(cast.alice).post(f"/agents/nodes/{factories.node(cast.team).pk}/enrol/").content.decode()
    assert "--server https://public.example.org --token" in page
    assert "unit &gt; /etc/systemd/system/fathom-agent.service" in page


def test_it_enrols_no_second_agent(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    client = signed_in(cast.alice)
    path = f"/agents/nodes/{agent.node_id}/enrol/"
    assert "Retire it first" in client.get(path).content.decode()
    answer = client.post(path)
    assert answer.status_code == 409
    assert "retire it first" in answer.content.decode()


def test_it_retires_after_asking(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    job = factories.job(agent.node, state=Job.State.RUNNING)
    client = signed_in(cast.alice)
    path = f"/agents/nodes/{agent.node_id}/retire/"
    assert "those it has are lost" in client.get(path).content.decode()
    assert Agent.objects.get().retired_at is None
    client.post(path)
    assert Agent.objects.get().retired_at is not None
    job.refresh_from_db()
    assert (job.state, job.fault) == (Job.State.LOST, "agent-lost")
    retired_at = Agent.objects.get().retired_at
    client.post(path)
    assert Agent.objects.get().retired_at == retired_at


def test_it_removes_only_what_is_retired(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    client = signed_in(cast.alice)
    path = f"/agents/nodes/{agent.node_id}/forget/"
    answer = client.post(path)
    assert answer.status_code == 409
    assert "Retire the agent" in answer.content.decode()
    services.retire_agent(agent=agent, now=timezone.now())
    assert "Remove the agent" in client.get(path).content.decode()
    client.post(path)
    assert not Agent.objects.exists()
    assert client.get(path).status_code == 404
    assert client.get(f"/agents/nodes/{agent.node_id}/retire/").status_code == 404


def test_it_downloads_what_a_job_printed_byte_for_byte(cast: people.Cast) -> None:
    job = factories.job(factories.node(cast.team), state=Job.State.ENDED)
    text = b"\xff\x00binary" * 50_000
    JobOutput.objects.create(
        job=job, stdout_z=zlib.compress(text), stderr_z=zlib.compress(b""), stdout_bytes=len(text)
    )
    answer = signed_in(cast.bob).get(f"/agents/jobs/{job.pk}/stdout/")
    assert b"".join(answer.streaming_content) == text
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert b"".join(signed_in(cast.bob).get(f"/agents/jobs/{job.pk}/stderr/").streaming_content) == b""
    bare = factories.job(job.node)
    assert b"".join(signed_in(cast.bob).get(f"/agents/jobs/{bare.pk}/stdout/").streaming_content) == b""
    assert signed_in(cast.bob).get(f"/agents/jobs/{job.pk}/stdin/").status_code == 404


def test_the_program_is_one_file_that_anybody_may_fetch(cast: people.Cast) -> None:
    answer = Client().get("/agents/fathom-agent.pyz")
    assert answer.content.startswith(b"#!/usr/bin/env python3\n")
    assert hashlib.sha256(answer.content).hexdigest() == program.current().sha256
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert "__main__.py" in names
    assert "fathom_agent/facts/netlink.py" in names
    unit = Client().get("/agents/fathom-agent.service").content.decode()
    assert "ExecStart=/usr/bin/python3 /opt/fathom-agent/fathom-agent.pyz run --dir /var/lib/fathom-agent" in unit


def test_the_page_of_many_nodes_has_pages(cast: people.Cast) -> None:
    kind = inventory.testbed(cast.team)
    for number in range(51):
        inventory.node(cast.team, f"number-{number:02}", testbed=kind)
    client = signed_in(cast.bob)
    assert ">number-50<" not in client.get("/agents/").content.decode()
    assert ">number-50<" in client.get("/agents/", {"page": 2}).content.decode()
