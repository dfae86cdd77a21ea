"""A database that lost its last seconds beside agents that live on: whatever both know of a job, it ends.

Server and agent are the real ones and talk within this process, a second passing with each poll; of programs only the
start and the end are played.
"""

import itertools
import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.endpoint import intake, protocol
from apps.agents.endpoint.room import Problem
from apps.agents.models import Agent, AgentInstance, Job, Listener
from apps.agents.services.jobs import MOST_HAND_OUTS
from apps.core import queue
from tests import rewriting
from tests.agents import factories
from tests.rotation import part_of
from workers.agent import agent as program
from workers.agent import config, remote, spool, steady, unsent

pytestmark = pytest.mark.django_db

State = Job.State
# What the database says of the job once it is put back, and what the agent knows.
KNOWN_HERE = ("absent", State.QUEUED, State.DELIVERED, State.RUNNING, State.READY, State.ENDED, State.LOST)
KNOWN_THERE = ("unknown", "held", "running", "done", "acknowledged", "refused")
OPEN = tuple(map(str, Job.OPEN_STATES))
# A program of before says neither what it was acknowledged nor what is over.
SINCE = ("over", "told")
ROUNDS = MOST_HAND_OUTS + 10


class Program(program.Agent):
    """An agent whose programs are started and ended by the test."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.begun: list[str] = []

    def _start(self, record: spool.Record) -> None:
        self.begun.append(record.job_id)


class Meeting:
    """An agent and the server it talks to."""

    def __init__(self, folder: Path, *, is_old: bool = False) -> None:
        config.save(folder, config.Config("http://127.0.0.1:9", "token"))
        self.is_old, self.refuses = is_old, False
        # Its last poll, and the first after a job was there.
        self.number, self.first = 0, 1
        self.agent = Program(folder)
        self.row, token = factories.agent()
        self.prefix = token.split("_")[2]
        self.now = timezone.now()
        self.hello()

    def hello(self) -> None:
        services.admit_instance(agent_id=self.row.pk, introduction=self.introduction(self.key), now=self.now)

    def introduction(self, key: uuid.UUID) -> services.Introduction:
        """Return the words of this process, or of one that it follows in its folder."""
        own = self.agent.instance.introduction()
        words = {**own, "boot": "b", "folder": "f", "began_ns": int(own["began_ns"]) - (key != self.key)}
        return protocol.introduction_of(words, key, "127.0.0.1")

    @property
    def key(self) -> uuid.UUID:
        return uuid.UUID(self.agent.instance.key)

    def poll(self) -> dict[str, Any]:
        """Have the agent poll and do what it is answered, a second later; return the answer."""
        self.now += timedelta(seconds=1)
        listening = {"listening_since": self.now - timedelta(hours=1), "heard_until": self.now}
        Listener.objects.update_or_create(pk=1, defaults=listening)
        Agent.objects.filter(pk=self.row.pk).update(last_seen_at=self.now)
        words = {k: v for k, v in self.agent._question().items() if not (self.is_old and k in SINCE)}
        question, _troubles = intake.read_poll(json.dumps(words).encode())
        self.number = question.number
        delivery = services.deliver_jobs(
            **{"agent_id": self.row.pk, "held": question.held, "stopping": question.stopping, "is_first_look": True},
            **{"now": self.now, "instance": self.key, "poll": question.number, "running": question.running},
            **{"over": question.over, "told": question.told},
        )
        answer = json.loads(json.dumps(protocol.answer_as_json(delivery)))
        self.agent._take(answer)
        self.report()
        services.mark_lost_jobs(now=self.now)
        return dict(answer)

    def report(self) -> None:
        while entry := self.agent.unsent.take(is_slow=False, patience_s=0):
            is_done = False
            try:
                is_done = self.agent._reporter._send(self, entry)
            finally:
                self.agent.unsent.give_back(entry, is_done=is_done)

    def call(self, path: str, body: dict[str, Any], _timeout_s: float) -> dict[str, Any]:
        """Take a report in as the endpoint does."""
        if self.refuses:
            raise remote.Refused(400, "bad-field", "“signal” must be a whole number, 0 or more.")
        who = queries.credentials_of(self.prefix)
        assert who is not None
        job = protocol.job_id_of(path.split("/")[1])
        try:
            return dict(intake.take_report(who, self.key, job, json.dumps(body).encode())[0])
        except Problem as problem:
            raise remote.Refused(problem.status, problem.code, str(problem)) from problem

    def note(self, job_id: str, **facts: Any) -> None:
        """Have something become of a job on the node, and report it."""
        record = self.agent.spool.get(job_id)
        assert record is not None
        self.agent.spool.note(record, **facts)
        self.agent._changed(record)

    def end(self, job_id: str) -> None:
        self.note(job_id, ended_at=steady.now(), exit_code=0)


@pytest.fixture
def meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Meeting]:
    # Orphans are adopted by a whole process, and this one is the test run's.
    monkeypatch.setattr(program.OFFSPRING, "adopt", lambda: False)
    monkeypatch.setattr(unsent, "LULL_S", 0.0)
    return lambda **how: Meeting(tmp_path, **how)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What workers are told."""
    messages: list[tuple[object, ...]] = []
    monkeypatch.setattr(queue, "send", lambda *words: messages.append(words))
    return messages


def live(meeting: Meeting, there: str) -> Job:
    """Have the agent come to know of a job of what it is to know; return that job."""
    meeting.first = meeting.number + 1
    job = factories.job(meeting.row.node, background=True, ready_pattern="x", run_ref=5)
    name = str(job.pk)
    if there == "unknown":
        return job
    assert [one["id"] for one in meeting.poll()["jobs"]] == [name]
    if there == "held":
        return job
    meeting.note(name, started_at=steady.now())
    meeting.note(name, ready_at=steady.now())
    meeting.report()
    if there == "running":
        return job
    meeting.refuses = there == "refused"
    meeting.end(name)
    if there != "done":
        meeting.report()
    meeting.refuses = False
    return job


def put_back(job: Job, meeting: Meeting, here: str) -> None:
    """Have the database know of the job what it knew before, or nothing."""
    row = Job.objects.filter(pk=job.pk)
    if here == "absent":
        rewriting.delete(row)
        return
    moment = meeting.now - timedelta(minutes=30)
    has_ended, taken = here in (State.ENDED, State.LOST), here != State.QUEUED
    rewriting.update(
        row,
        state=here,
        delivered_at=moment if taken else None,
        instance=meeting.key if taken else None,
        taken_at_poll=meeting.first if taken else 0,
        hand_outs=1 if taken else 0,
        started_at=meeting.now if here in (State.RUNNING, State.READY) else None,
        ready_at=meeting.now if here == State.READY else None,
        ended_at=moment if has_ended else None,
        exit_code=3 if here == State.ENDED else None,
        fault="agent-lost" if here == State.LOST else "",
        time_limit_s=3600.0,
    )


def settle(meeting: Meeting, job: Job) -> int:
    """Poll until nothing is left to be done; return after how many polls that was."""
    name = str(job.pk)
    for number in range(1, ROUNDS):
        answer = meeting.poll()
        record = meeting.agent.spool.get(name)
        if record is not None and not record.is_finished and (number == 4 or name in answer["stop"]):
            meeting.end(name)
            meeting.report()
        is_open = Job.objects.filter(pk=job.pk, state__in=OPEN).exists()
        if number > 4 and not is_open and not any(answer.values()) and name not in meeting.agent.spool:
            return number
    return ROUNDS


def expected(here: str, there: str, *, is_old: bool) -> tuple[str, str] | None:
    """Return the state and the fault that the job is to end with; None where it is not there."""
    if here == "absent":
        return None
    if here in (State.ENDED, State.LOST):
        return here, "agent-lost" if here == State.LOST else ""
    if there in ("held", "running", "done"):
        # What was measured counts, whatever the database forgot of it.
        return State.ENDED, ""
    if here in (State.RUNNING, State.READY):
        return State.LOST, "outcome-gone"
    if there == "unknown":
        return State.ENDED, ""
    return State.LOST, "agent-lost" if is_old else "outcome-gone"


@pytest.mark.parametrize(
    ("there", "is_old", "here"), part_of(itertools.product(KNOWN_THERE, (False, True), KNOWN_HERE))
)
def test_whatever_each_knows_of_a_job_it_ends_and_nothing_is_done_twice(
    meet: Callable[..., Meeting], sent: list[tuple[object, ...]], there: str, is_old: bool, here: str
) -> None:
    meeting = meet(is_old=is_old)
    job = live(meeting, there)
    put_back(job, meeting, here)
    sent.clear()
    rounds, row = settle(meeting, job), Job.objects.filter(pk=job.pk).first()
    assert rounds < (ROUNDS if is_old else 10), f"it goes on for ever: {row and row.state}"
    assert (row and (row.state, row.fault)) == expected(here, there, is_old=is_old)
    assert meeting.agent.begun.count(str(job.pk)) == (there != "unknown" or here in (State.QUEUED, State.DELIVERED))
    assert ((queue.JOB_CHANGED, 5) in sent) == (here in OPEN), "nobody takes its run on"
    assert row is None or row.hand_outs <= MOST_HAND_OUTS


@pytest.mark.parametrize("here", [State.QUEUED, State.DELIVERED, State.RUNNING])
def test_what_was_acknowledged_is_told_again_so_that_the_next_stage_begins(
    meet: Callable[..., Meeting], sent: list[tuple[object, ...]], here: str
) -> None:
    meeting = meet()
    job = live(meeting, "running")
    assert not any(meeting.poll().values()), "it is asked for what is known"
    put_back(job, meeting, here)
    sent.clear()
    assert meeting.poll()["tell"] == [str(job.pk)]
    job.refresh_from_db()
    assert (job.state, job.instance, job.hand_outs) == (State.READY, meeting.key, 1)
    assert sent == [(queue.JOB_CHANGED, 5)]
    assert not any(meeting.poll().values())


def test_one_that_the_agent_holds_counts_as_delivered_with_the_facts_of_its_node(
    meet: Callable[..., Meeting],
) -> None:
    meeting = meet()
    services.record_facts(agent_id=meeting.row.pk, facts={"kernel": {"release": "6.1"}}, version="1.3")
    job = live(meeting, "held")
    put_back(job, meeting, State.QUEUED)
    rewriting.update(Job.objects.filter(pk=job.pk), facts=None)
    assert not meeting.poll()["jobs"]
    job.refresh_from_db()
    assert (job.state, job.delivered_at, job.instance) == (State.DELIVERED, meeting.now, meeting.key)
    assert job.facts is not None


def test_a_delivery_that_an_acknowledgement_passed_is_no_news(meet: Callable[..., Meeting]) -> None:
    meeting = meet()
    job = live(meeting, "acknowledged")
    handed = protocol.job_as_json(SimpleNamespace(**vars(job), pk=job.pk, address="", inventory=[], team=""))
    assert not meeting.agent._take({"jobs": [handed]})
    assert not any(meeting.poll().values())
    assert not meeting.agent._question()["over"]
    job.refresh_from_db()
    assert (job.state, job.exit_code) == (State.ENDED, 0)


def test_a_report_of_a_process_that_the_database_forgot_waits_for_its_hello(meet: Callable[..., Meeting]) -> None:
    job = live(meeting := meet(), "running")
    before = meeting.introduction(uuid.uuid4())
    put_back(job, meeting, State.RUNNING)
    rewriting.update(Job.objects.filter(pk=job.pk), instance=before.key)
    AgentInstance.objects.filter(agent=meeting.row).delete()
    services.admit_instance(agent_id=meeting.row.pk, introduction=before, now=meeting.now)
    with pytest.raises(remote.Refused) as refused:
        meeting.end(str(job.pk))
        meeting.report()
    assert refused.value.code == intake.UNKNOWN
    assert meeting.agent.spool.get(str(job.pk)) is not None, "a result was put aside"
    meeting.hello()
    meeting.report()
    job.refresh_from_db()
    assert (job.state, job.exit_code) == (State.ENDED, 0)
