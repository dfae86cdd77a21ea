"""The service's answers to agents: each names the request it answers, and agents know all that refuse a report."""

import ast
import http.client
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import endpoint, services
from apps.agents.endpoint import app, database, intake
from apps.agents.models import Agent, EnrolmentToken, Job
from apps.agents.services import enrolment
from tests.agents import factories
from tests.agents.live import LiveServer
from tests.agents.test_protocol import finished
from tests.agents.test_waking import Exchange, exchange, token
from tests.rest import racing
from workers.agent import remote, reports

__all__ = ["exchange", "token"]

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = f"jobs/{uuid.UUID(int=7)}/events"
ROUTES = (*app.NAMES, EVENTS)
# What asks for no token, and what takes no body.
OPEN, BARE = ("enrol",), ("clock",)
# Larger than what any of them takes (bytes).
HUGE = 10**10
# The codes of what goes wrong in the service itself.
FAULTS = {"unavailable", "changed", "error"}


@dataclass(frozen=True)
class Case:
    """A request below the agents' root, and the status and code with which it is answered."""

    name: str
    status: int
    code: str = ""
    body: Any = field(default_factory=dict)
    method: str = "POST"
    token: str = ""
    instance: str = ""
    announced: int | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.name}: {self.status} {self.code}"


@dataclass(frozen=True)
class Got:
    """What came: the status, the code, and the request that the answer names."""

    status: int
    code: str
    named: str | None


def ask(server: LiveServer, case: Case, request: str) -> Got:
    body = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
    headers = {"Content-Length": str(len(body) if case.announced is None else case.announced)}
    if request:
        headers[remote.REQUEST] = request
    if case.token:
        headers["Authorization"] = f"Bearer {case.token}"
    if case.instance:
        headers["Fathom-Instance"] = case.instance
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(case.method, f"/agent/v1/{case.name}")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    data = json.loads(response.read())
    connection.close()
    return Got(response.status, data.get("code", ""), response.getheader(remote.ANSWER))


def of_every_route(text: str, retired: str) -> list[Case]:
    """Return what each route refuses, `text` being the token of an agent and `retired` that of one that was."""
    cases = [Case("nothing", 404, "unknown-address"), Case("jobs/1/output", 404, "unknown-address", token=text)]
    for name in ROUTES:
        cases.append(Case(name, 405, "wrong-method", method="DELETE", token=text))
        if name not in OPEN:
            cases += [Case(name, 401, "no-token"), Case(name, 401, "unknown-token", token=text[:-6] + "zzzzzz")]
            cases += [Case(name, 401, "retired", token=retired)]
            cases += [Case(name, 400, "bad-field", token=text, instance="no number")]
        # Of a report the job is looked up before its body.
        if name not in (*BARE, EVENTS):
            with_token = {"token": text, "instance": str(uuid.uuid4()) if name in ("hello", "leave") else ""}
            cases += [Case(name, 400, "bad-json", b"[", **with_token)]
            cases += [Case(name, 413, "too-large", announced=HUGE, **with_token)]
    wrong = {"enrol": {"token": 1}, "facts": {"facts": 1}, "poll": {"held": 1}}
    cases += [Case(name, 400, "bad-field", body, token=text) for name, body in wrong.items()]
    return cases


def of_reports(agent: Agent, text: str) -> list[Case]:
    job = factories.job(agent.node, state=Job.State.RUNNING)
    others = factories.job(agent.node, state=Job.State.RUNNING, instance=uuid.uuid4())
    return [
        Case(f"jobs/{job.pk}/events", 400, "bad-json", b"[", token=text),
        Case(f"jobs/{job.pk}/events", 400, "bad-field", {"event": "lost"}, token=text),
        Case(f"jobs/{job.pk}/events", 413, "too-large", announced=HUGE, token=text),
        Case(f"jobs/{job.pk}/events", 200, "", finished(), token=text),
        Case(f"jobs/{others.pk}/events", 409, "other-instance", finished(), token=text),
        Case(f"jobs/{others.pk}/events", 409, "unknown-instance", finished(), token=text, instance=str(uuid.uuid4())),
        Case(EVENTS, 404, "unknown-job", finished(), token=text),
        Case("jobs/7/events", 404, "unknown-job", finished(), token=text),
    ]


def of_processes(text: str) -> list[Case]:
    """Return what two processes of one agent are told; in this order."""
    one, other = str(uuid.uuid4()), str(uuid.uuid4())
    return [
        Case("clock", 200, "", method="GET", token=text),
        Case("poll", 409, "unknown-instance", {"held": []}, token=text, instance=one),
        Case("hello", 200, "", token=text, instance=one),
        Case("hello", 409, "other-instance", token=text, instance=other),
        Case("facts", 200, "", {"facts": {}}, token=text, instance=one),
        Case("poll", 200, "", {"held": [], "hold_s": 0}, token=text, instance=one),
        Case("leave", 200, "", token=text, instance=one),
    ]


def of_enrolments() -> list[Case]:
    def issue() -> tuple[EnrolmentToken, str]:
        issued = services.issue_enrolment_token(
            node=factories.node(), user=factories.administrator(), now=timezone.now()
        )
        return issued.token, issued.text

    (_fresh, good), (old, expired), (_second, late), (_third, fresh) = issue(), issue(), issue(), issue()
    orphan, orphaned = issue()
    EnrolmentToken.objects.filter(pk=orphan.pk).update(created_by=None)
    own = {"prefix": "0123456789ab", "digest": "1" * 64}
    EnrolmentToken.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    other = services.issue_enrolment_token(node=_second.node, user=factories.administrator(), now=timezone.now())
    agent, _text = services.enrol_agent(token_text=other.text, version="1", now=timezone.now())
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=timezone.now())
    return [
        Case("enrol", 201, "", {"token": good}),
        Case("enrol", 409, "used-token", {"token": good}),
        Case("enrol", 401, "expired-token", {"token": expired}),
        Case("enrol", 400, "bad-field", {"token": fresh, "own": {"prefix": "x", "digest": "0" * 64}}),
        Case("enrol", 409, "prefix-taken", {"token": fresh, "own": {"prefix": agent.prefix, "digest": "0" * 64}}),
        Case("enrol", 201, "", {"token": fresh, "own": own}),
        Case("enrol", 201, "", {"token": fresh, "own": own}),
        Case("enrol", 409, "used-token", {"token": fresh, "own": own | {"digest": "0" * 64}}),
        Case("enrol", 409, "used-token", {"token": fresh}),
        Case("enrol", 409, "node-has-agent", {"token": late}),
        Case("enrol", 401, "issuer-may-not", {"token": orphaned}),
        Case("enrol", 401, "unknown-token", {"token": "enrol_none_at_all"}),
    ]


def all_cases() -> list[Case]:
    (agent, text), (retired, text_of_retired), (_twins, text_of_twins) = (factories.agent() for _each in range(3))
    Agent.objects.filter(pk=retired.pk).update(retired_at=timezone.now())
    cases = [*of_every_route(text, text_of_retired), *of_reports(agent, text)]
    return [*cases, *of_processes(text_of_twins), *of_enrolments()]


def is_of_report(case: Case) -> bool:
    """Say whether a case is a refusal of a report, and not of the agent or the address."""
    return case.name.endswith("/events") and case.status >= 400 and case.status not in (401, 405)


def codes_in_source() -> set[str]:
    """Return every code that the endpoint's source gives to an answer."""
    paths = [*Path(endpoint.__file__).parent.glob("*.py"), Path(enrolment.__file__)]
    codes: set[str] = set()
    for node in (inner for path in paths for inner in ast.walk(ast.parse(path.read_text()))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            place = {"Problem": 1, "EnrolmentRefused": 0}.get(node.func.id)
            codes |= set() if place is None else code_of(node.args[place])
        elif isinstance(node, ast.Dict):
            named = zip(node.keys, node.values, strict=True)
            codes.update(*(code_of(value) for key, value in named if key and ast.unparse(key) == "'code'"))
    return codes


UNHEARD = {"stalled", "too-many-agents"}


def code_of(value: ast.expr) -> set[str]:
    if isinstance(value, ast.Constant):
        return {str(value.value)}
    # One that a refusal brings along is where that is raised.
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return {getattr(intake, name)} if hasattr(intake, name) else set()


def test_every_answer_names_its_request_whatever_it_says(server: LiveServer) -> None:
    answers: list[tuple[Case, Got]] = []
    for case in all_cases():
        request = uuid.uuid4().hex
        got = ask(server, case, request)
        assert got == Got(case.status, case.code, request), case
        answers.append((case, got))
    # All that the service can say was heard, but for its own faults, what it says after half a minute of silence, and
    # to the ten thousandth agent of a team (test_services).
    assert {got.code for _case, got in answers} - {""} == codes_in_source() - FAULTS - UNHEARD
    assert {case.name for case, _got in answers} >= set(ROUTES)
    # An agent puts a report aside for exactly what the service refuses one for, whoever it is that reports.
    assert {got.code for case, got in answers if is_of_report(case)} == {*reports.FOR_GOOD, intake.UNKNOWN}


@pytest.mark.parametrize("request_name", ["", "two words", "x" * 65, "<script>", "1%0d%0aSet-Cookie:a=b"])
def test_a_request_without_a_proper_name_is_answered_under_none(server: LiveServer, request_name: str) -> None:
    _agent, text = factories.agent()
    assert ask(server, Case("clock", 200, method="GET", token=text), request_name).named == "1"


def _away(*_words: object, **_more: object) -> None:
    raise database.Unavailable("gone")


def _deleted(*_words: object, **_more: object) -> None:
    raise racing.collision()


def _odd(*_words: object, **_more: object) -> None:
    raise RuntimeError("odd")


@pytest.mark.parametrize(
    ("fail", "status", "code"), [(_away, 503, "unavailable"), (_deleted, 503, "changed"), (_odd, 500, "error")]
)
async def test_faults_of_the_service_name_the_request_too(
    exchange: Exchange,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
    fail: Callable[..., None],
    status: int,
    code: str,
) -> None:
    async def run(*_words: object, **_more: object) -> None:
        fail()

    monkeypatch.setattr(database, "run", run)
    for name in ROUTES:
        start, body = await exchange.ask(f"/agent/v1/{name}", token=token, request="abc")
        assert (start["status"], json.loads(body["body"])["code"]) == (status, code), name
        assert (b"fathom-answer", b"abc") in start["headers"], name
    # None of them has an agent put a report aside.
    assert code not in reports.FOR_GOOD
    assert code in FAULTS
