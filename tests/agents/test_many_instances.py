"""However many processes claim to be one agent, few of them are rows and lines of a log."""

import logging

import pytest
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.models import Agent, AgentInstance, Job
from apps.agents.services.instances import KEPT
from apps.core.log_lines import PerMinute
from tests.agents import factories
from tests.agents.test_instances import COPY, HERE, admit, admit_refused, agent, listen_and_hear, process

__all__ = ["agent"]

pytestmark = pytest.mark.django_db


def test_however_many_are_refused_few_rows_and_lines_are_kept(
    agent: Agent, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("fathom.refused")
    assert {type(each) for each in logger.filters} == {PerMinute}
    monkeypatch.setattr(logger, "filters", [PerMinute()])
    first, replaced = process(**HERE), process(**COPY)
    admit(agent, replaced)
    services.choose_instance(agent=agent, key=admit_refused(agent, first), now=timezone.now())
    listen_and_hear(agent, 3)
    last = [admit_refused(agent, process(**COPY)) for _time in range(3 * KEPT)][-KEPT:]
    keys = set(AgentInstance.objects.filter(agent=agent).values_list("key", flat=True))
    assert keys == {first.key, replaced.key, *last}
    assert len(queries.rivals_of([agent.node_id], timezone.now())[agent.node_id]) == KEPT
    job = factories.job(agent.node, state=Job.State.RUNNING, instance=first.key)
    for _time in range(5):
        services.note_refused_report(node_id=agent.node_id, key=last[0], job_id=job.pk, now=timezone.now())
    assert len([record for record in caplog.records if record.name == "fathom.refused"]) == 2


def test_rows_of_processes_do_not_grow_without_end(agent: Agent) -> None:
    for _number in range(30):
        admit(agent, process(**HERE))
    assert AgentInstance.objects.filter(agent=agent).count() <= 21
