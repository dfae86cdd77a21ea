"""What a run leaves on a node stays owed to it: it is removed before anything is measured there, or told of."""

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import ProtectedError
from django.utils import timezone

from apps.accounts.models import User
from apps.agents import queries as agents_queries
from apps.agents import services as agents
from apps.agents.models import MOST_TRIES, Agent, Job, OwedRemoval
from apps.bench.toolkit import Output
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Event, Reservation, Trial
from apps.testbeds.models import Node
from apps.testbeds.obstacles import obstacles
from apps.testbeds.services import items
from tests.workers.factories import report
from tests.workers.writers import (
    DONE,
    KILLED,
    REFUSED,
    begin,
    cancel,
    come_back,
    end,
    lose,
    write,
)
from workers import carry_out, clean_up, fences


def due(now: datetime) -> list[Job]:
    """Have removals taken on at a time, and return the commands that are queued for them."""
    clean_up.remove_what_is_left(now=now)
    return list(Job.objects.filter(run_ref=None, state__in=Job.OPEN_STATES).order_by("created_at"))


def carry(now: datetime, output: Output = DONE, *, is_mounted: bool = True) -> None:
    """Have the agents carry out what is to be removed: the look at the mount, and the removal."""
    for job in due(now):
        if is_mounted:
            report(job, Job.State.READY)
        report(job, Job.State.ENDED, DONE)
    if is_mounted:
        for job in due(now):
            report(job, Job.State.ENDED, output)
    due(now)


def test_it_is_removed_before_anything_is_measured_there(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = begin(cast, pair)
    write(run)
    lose(run)
    assert OwedRemoval.objects.count() == 2
    assert due(timezone.now()) == []
    now = come_back()
    Trial.objects.update(not_before=None)
    fences.lift_fences(now=now)
    assert not queries.fences_of()
    assert carry_out.schedule() == 0
    assert [job.argv[0] for job in due(now)] == ["df", "df"]
    carry(now)
    assert not OwedRemoval.objects.exists()
    assert not Job.objects.filter(run_ref=None).exists()
    assert Event.objects.filter(level="info", message__icontains="is removed").count() == 2
    assert carry_out.schedule() == 1


def test_a_node_that_is_back_late_removes_first_though_nothing_is_kept_back(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = begin(cast, pair)
    write(run)
    lose(run)
    fences.lift_fences(now=timezone.now() + timedelta(days=1))
    assert not Reservation.objects.filter(released_at=None).exists()
    come_back()
    Trial.objects.update(not_before=None)
    assert carry_out.schedule() == 0
    keeping = obstacles(nodes=[pair[0].pk], now=timezone.now())
    assert keeping[pair[0].pk].code == "files-to-remove"


def test_nothing_begins_on_its_file_system_meanwhile_and_what_is_measured_is_waited_for(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    run = begin(cast, pair)
    write(run)
    lose(run)
    now = come_back()
    removal = OwedRemoval.objects.first()
    assert removal is not None
    assert len(removal.resources) == 1
    assert due(now) == [], "what the run held is kept back, as if something else was measured there"
    ready = {node.pk for node in pair}
    ask = {"ready_nodes": ready, "now": now + timedelta(seconds=1)}
    fences.lift_fences(now=now)
    assert services.take_runs(**ask, kept_back=clean_up.kept_back(now)).chosen == 0
    assert services.take_runs(**ask).chosen == 1


def test_what_a_lost_program_may_still_write_is_waited_for(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = begin(cast, pair)
    write(run)
    lose(run)
    Agent.objects.update(last_seen_at=timezone.now())
    assert Job.objects.filter(may_run_until__gt=timezone.now()).exists()
    assert due(timezone.now()) == []


def test_a_file_system_that_is_not_mounted_yet_has_nothing_removed(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = begin(cast, pair)
    write(run)
    lose(run)
    now = come_back()
    fences.lift_fences(now=now)
    carry(now, is_mounted=False)
    assert list(OwedRemoval.objects.values_list("tries", "step")) == [(1, 0)] * 2
    assert {removal.reason for removal in OwedRemoval.objects.all()} == {"The file system is not mounted there."}
    assert due(now) == [], "it waits a while"
    Agent.objects.update(last_seen_at=now + timedelta(seconds=20))
    carry(now + timedelta(seconds=20))
    assert not OwedRemoval.objects.exists()


def test_tries_end_and_then_it_is_told_and_holds_nothing_up(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = begin(cast, pair)
    write(run)
    cancel(run, cast)
    end(run, KILLED)
    end(run, REFUSED)
    now = timezone.now()
    for _number in range(MOST_TRIES):
        assert agents_queries.ready_nodes(now) == set()
        now += timedelta(minutes=5)
        Agent.objects.update(last_seen_at=now)
        carry(now, REFUSED)
    assert {removal.is_given_up for removal in OwedRemoval.objects.all()} == {True}
    assert not Job.objects.filter(run_ref=None).exists()
    assert agents_queries.ready_nodes(now) == {node.pk for node in pair}
    warning = Event.objects.filter(message__icontains="could not be removed").first()
    assert warning is not None
    assert "Permission denied" in warning.message["params"]["why"]
    assert due(now + timedelta(minutes=50)) == []
    # Beside what is measured it is still tried, when the node has nothing else to do.
    now += timedelta(minutes=61)
    Agent.objects.update(last_seen_at=now)
    assert clean_up.kept_back(now) == set()
    carry(now)
    assert not OwedRemoval.objects.exists()


def test_it_outlives_its_campaign_and_its_node_is_not_deleted(cast: SimpleNamespace, pair: list[Node]) -> None:
    run = begin(cast, pair)
    write(run)
    cancel(run, cast)
    lose(run)
    fences.lift_fences(now=timezone.now() + timedelta(days=1))
    campaign = Campaign.objects.get()
    services.delete_campaign(campaign=campaign, user=cast.alice, now=timezone.now())
    assert not Job.objects.exists()
    removal = OwedRemoval.objects.first()
    assert removal is not None
    agent = Agent.objects.get(node=removal.node)
    agents.retire_agent(agent=agent, now=timezone.now())
    agent.refresh_from_db()
    agents.forget_agent(agent=agent)
    with pytest.raises(ProtectedError) as caught:
        items.delete_item(item=removal.node)
    assert any(removal.paths[0] in str(item) for item in caught.value.protected_objects)
    assert agents.forget_removals(node_id=removal.node_id) == 1
    now = come_back()
    carry(now)
    assert not OwedRemoval.objects.exists()
    assert not Job.objects.exists()


@pytest.fixture
def page(cast: SimpleNamespace, pair: list[Node], client: Any) -> Callable[..., Any]:
    """Return what asks for the page of a node to which a removal is owed."""
    run = begin(cast, pair)
    write(run)
    lose(run)

    def ask(user: User, path: str = "", *, post: bool = False, **headers: str) -> Any:
        client.force_login(user)
        return (client.post if post else client.get)(f"/agents/nodes/{pair[0].pk}/{path}", headers=headers)

    return ask


def test_the_nodes_page_names_the_files_and_a_manager_says_that_they_are_gone(
    cast: SimpleNamespace, page: Callable[..., Any]
) -> None:
    text = page(cast.bob).content.decode()
    assert "rm -rf -- /gpfs/.fathom-" in text
    assert "still to be removed" in text
    assert "removed/" not in text
    assert "지워야" in page(cast.alice, **{"accept-language": "ko"}).content.decode()
    for user, status in ((cast.bob, 403), (cast.oscar, 403), (cast.charlie, 404)):
        assert page(user, "removed/", post=True).status_code == status
    assert "/gpfs/.fathom-" in page(cast.alice, "removed/").content.decode()
    assert OwedRemoval.objects.count() == 2
    assert page(cast.alice, "removed/", post=True).status_code == 302
    assert OwedRemoval.objects.count() == 1
    assert "still to be removed" not in page(cast.alice).content.decode()


def test_rest_tells_and_does_the_same(cast: SimpleNamespace, pair: list[Node], page: Any, client: Any) -> None:
    path = f"/api/v1/agents/{Agent.objects.get(node=pair[0]).pk}/"
    client.force_login(cast.alice)
    (removal,) = client.get(path).json()["removals"]
    assert removal["paths"][0].startswith("/gpfs/.fathom-")
    assert (removal["tries"], removal["is_given_up"]) == (0, False)
    client.force_login(cast.bob)
    assert client.post(f"{path}removed/").status_code == 403
    client.force_login(cast.alice)
    assert client.post(f"{path}removed/").json()["removals"] == []
