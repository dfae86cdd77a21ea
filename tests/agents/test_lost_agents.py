"""Whether an agent is lost is one fact: whoever tells it, tells the same, and of none that nobody could hear."""

import ast
import itertools
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.agents import obstacles, queries, services
from apps.agents.models import DEAF_AFTER, LOST_AFTER, Agent, AgentState, Job, Listener
from apps.agents.services import Heartbeat, instances
from apps.home import needs
from apps.testbeds.models import Node
from tests.agents import factories
from tests.test_architecture import ROOT
from workers.readiness import node_warnings

pytestmark = pytest.mark.django_db
MOMENT = timedelta(seconds=1)
HEARD = {"just now": timedelta(), "not for long": LOST_AFTER + MOMENT, "not for days": timedelta(days=3)}
# How long ago somebody began to listen, did so last, and who was lost then was heard. The service runs; began now
# for the first time, or after an outage, which began as the agent was heard, or long after; is away; never began.
LISTENING: dict[str, tuple[timedelta, timedelta, timedelta] | None] = {
    "for long": (LOST_AFTER + MOMENT, timedelta(), LOST_AFTER),
    "for a moment": (MOMENT, timedelta(), timedelta(days=9)),
    "after an outage": (MOMENT, timedelta(), 2 * LOST_AFTER),
    "after an outage beyond": (2 * MOMENT, timedelta(), LOST_AFTER + MOMENT / 2),
    "no more": (timedelta(days=1), DEAF_AFTER + MOMENT, LOST_AFTER + DEAF_AFTER + MOMENT),
    "never": None,
}
LOST = {("not for long", "for long"), ("not for long", "after an outage beyond"), ("not for days", "no more")}
LOST |= {("not for days", listening) for listening in ("for long", "after an outage", "after an outage beyond")}


def listen(listening: tuple[timedelta, timedelta, timedelta] | None, now: datetime) -> None:
    Listener.objects.all().delete()
    if listening is not None:
        since, until, lost = (now - ago for ago in listening)
        Listener.objects.create(pk=1, listening_since=since, heard_until=until, threshold=lost)


def _over_rest(node: Node, user: User, _now: datetime) -> bool:
    client = APIClient()
    client.force_authenticate(user)
    (row,) = client.get(f"/api/v1/agents/?node={node.pk}").json()["results"]
    assert client.get(f"/api/v1/agents/{row['id']}/").json()["state"] == row["state"]
    return bool(row["state"] == "lost")


def _by_filter(node: Node, user: User, _now: datetime) -> bool:
    client = APIClient()
    client.force_authenticate(user)
    numbers = [client.get(f"/api/v1/agents/?state={state}").json()["count"] for state in ("lost", "idle", "busy")]
    assert sum(numbers) == 1
    return bool(numbers[0])


def _on_page(node: Node, user: User, _now: datetime) -> bool:
    client = Client()
    client.force_login(user)
    listed = [node.name in client.get(f"/agents/?state={state}").content.decode() for state in ("lost", "busy")]
    assert sum(listed) == 1
    return listed[0]


def _by_node(node: Node, _user: User, now: datetime) -> bool:
    return queries.nodes_in_state(Node.objects.all(), AgentState.LOST, now).exists()


def _in_the_list(node: Node, _user: User, now: datetime) -> bool:
    return queries.node_agents([node], now)[0].state == AgentState.LOST


def _in_the_way(node: Node, _user: User, now: datetime) -> bool:
    return node.pk in obstacles.obstacles_of(nodes=[node.pk], now=now)


def _for_trials(node: Node, _user: User, now: datetime) -> bool:
    return node.pk not in queries.ready_nodes(now)


def _before_a_launch(node: Node, _user: User, now: datetime) -> bool:
    return any("lost" in str(words) or "heard" in str(words) for words in node_warnings(nodes=[node], now=now))


def _at_home(node: Node, user: User, now: datetime) -> bool:
    return bool(list(needs._lost_agents(user, (), now)))


def _to_who_follows(node: Node, _user: User, now: datetime) -> bool:
    return instances.is_silent(Agent.objects.get(node=node), now)


def _of_its_jobs(node: Node, _user: User, now: datetime) -> bool:
    return services.mark_lost_jobs(now=now) > 0


# The last one ends its job.
READERS: list[Callable[[Node, User, datetime], bool]] = [
    _over_rest, _by_filter, _on_page, _by_node, _in_the_list, _in_the_way, _for_trials, _before_a_launch,
    _at_home, _to_who_follows, _of_its_jobs,
]  # fmt: skip


@pytest.mark.parametrize(("heard", "listening"), [*itertools.product(HEARD, LISTENING)])
def test_all_who_tell_it_tell_the_same(heard: str, listening: str) -> None:
    node = factories.node()
    now, user = timezone.now(), factories.administrator()
    factories.agent(node)
    factories.job(node, "true", state=Job.State.DELIVERED, time_limit_s=600)
    Agent.objects.update(last_seen_at=now - HEARD[heard])
    listen(LISTENING[listening], now)
    is_lost = (heard, listening) in LOST
    answers = {reader.__name__: reader(node, user, now) for reader in READERS}
    assert answers == dict.fromkeys(answers, is_lost)


def test_listening_begins_anew_after_a_gap() -> None:
    begin = timezone.now()
    # The clock is set ahead by an hour, and back right after the service began anew.
    steps = ((0, 0, -30), (9, 0, -21), (20, 20, -21), (29, 20, -12), (38, 20, -3), (47, 20, 6), (50, 20, 20))
    outages = (
        (70, 70, 20),
        (75, 70, 25),
        (90, 90, 25),
        (3690, 3690, 25),
        (3692, 3690, 27),
        (95, 95, 27),
        (97, 95, 29),
    )
    for seconds, since, threshold in (*steps, *outages, (3700, 3700, 29), (3738, 3738, 29)):
        services.record_heartbeats(heartbeats=[], now=begin + seconds * MOMENT)
        listener = Listener.objects.get()
        assert listener.listening_since == begin + since * MOMENT
        assert listener.heard_until == begin + seconds * MOMENT
        assert listener.threshold == begin + threshold * MOMENT


def test_nobody_alive_is_lost_where_the_clock_was_set_back_after_a_restart() -> None:
    agent, now = factories.agent()[0], timezone.now()
    for ahead_s in (3600, 3609, 3618, 3627, 3636, 3660, 3662, 5):
        beat = Heartbeat(agent.pk, now + ahead_s * MOMENT)
        services.record_heartbeats(heartbeats=[beat], now=beat.at)
        agent.refresh_from_db()
        assert not instances.is_silent(agent, beat.at)


def test_who_died_before_restarts_is_lost_by_the_time_between_them() -> None:
    agent, now = factories.agent()[0], timezone.now()
    services.record_heartbeats(heartbeats=[Heartbeat(agent.pk, now)], now=now)
    is_silent = []
    for seconds in (9, 18, 40, 49, 70, 75, 90):
        at = now + seconds * MOMENT
        services.record_heartbeats(heartbeats=[], now=at)
        agent.refresh_from_db()
        is_silent.append(instances.is_silent(agent, at))
    assert is_silent == [False, False, False, False, False, True, True]


def test_nobody_else_reckons_by_when_an_agent_was_heard() -> None:
    """Who may: the definition, and who tells since when it is so, or when it will be."""
    readers = set()
    for path in (ROOT / "apps").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and "LOST_AFTER" in {
                node.id for node in ast.walk(function) if isinstance(node, ast.Name)
            }:
                readers.add(function.name)
    assert readers == {"lost_before", "record_heartbeats", "_since", "_retry_after_s", "_words"}
