"""Every field of a job has its type and range; a bad job costs no other one, and writes no line of the log."""

import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from apps.agents.endpoint import protocol
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.relays import MessageProxy
from tests.agent.states import ended
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent import orders
from workers.agent.answers import parse
from workers.agent.printable import LONGEST, escaped

GOOD: dict[str, Any] = {
    "id": "8b0c5f0e-8f5c-4a44-9f4e-1b1b7f4f6d11", "argv": ["say", "1"], "background": False, "ready_pattern": "",
    "time_limit_s": 5.0, "output_limit_bytes": 1000, "start_at": None, "files": [["a", "b"]], "collect": ["a"],
    "environment": [["TZ", "UTC"]], "address": "127.0.0.1", "inventory": ["127.0.0.1"],
    "team": "1",
}  # fmt: skip
NUMBERS = [math.nan, math.inf, -math.inf, -1, 1e300, 10**30, float(10**16)]
OTHERS = [
    "x",
    {},
    {"x": 1},
    [1],
    [None],
    [["x"]],
    [["x", 1]],
    [["x", "y", "z"]],
    True,
    "\0",
    ["\0"],
    [["a", "\ud800"]],
]
# What each field may be, of those values.
ALLOWED = {
    "background": [True], "ready_pattern": ["x"], "address": ["x"], "start_at": [], "files": [], "environment": [],
    "collect": [], "inventory": [], "team": ["x"],
}  # fmt: skip


def wrong() -> Iterator[tuple[str, Any]]:
    """Yield each field of a job with each value that it must not have."""
    for name in sorted(GOOD.keys() - {"id"}):
        needed = name in ("argv", "time_limit_s", "output_limit_bytes")
        for value in [*NUMBERS, *OTHERS, *([None, [], 0.5] if needed else [])]:
            if not (value in ALLOWED.get(name, []) or (name == "time_limit_s" and value == 0.5)):
                yield name, value


def test_a_field_of_another_type_or_range_is_named() -> None:
    for name, value in wrong():
        # As it comes over the line.
        job = parse(json.dumps({**GOOD, name: value}).encode())
        assert orders.problem_of(job).startswith(f"its “{name}” must be "), value


def places_of(value: Any) -> Iterator[tuple[int, ...]]:
    """Yield where in a field there are texts."""
    if isinstance(value, str):
        yield ()
    for number, item in enumerate(value if isinstance(value, list) else ()):
        yield from ((number, *place) for place in places_of(item))


def with_text(value: Any, place: tuple[int, ...], text: str) -> Any:
    if not place:
        return text
    return [with_text(item, place[1:], text) if number == place[0] else item for number, item in enumerate(value)]


TEXTS = [(name, place) for name in sorted(GOOD.keys() - {"id"}) for place in places_of(GOOD[name])]


@pytest.mark.parametrize(("name", "place"), TEXTS)
def test_every_text_of_a_job_has_a_bound(name: str, place: tuple[int, ...]) -> None:
    # What a server sends fits; a file is as long as all of its poll.
    longest = {("files", (0, 1)): 2**24}.get((name, place), 2**17 if name in ("argv", "environment") else 1000)
    assert orders.problem_of({**GOOD, name: with_text(GOOD[name], place, "x" * 100)}) == ""
    assert orders.problem_of({**GOOD, name: with_text(GOOD[name], place, "x" * (longest + 1))})


def test_every_field_that_may_hold_texts_is_tried() -> None:
    assert {name for name, _place in TEXTS} == orders._FORMS.keys() - {
        *("time_limit_s", "output_limit_bytes", "background", "start_at")
    }


def test_a_good_job_has_no_problem() -> None:
    assert orders.problem_of(GOOD) == ""
    assert orders.problem_of({**GOOD, "start_at": 1.7e9, "later": object()}) == ""
    needed = {name: GOOD[name] for name in ("id", "argv", "time_limit_s", "output_limit_bytes")}
    assert orders.problem_of(needed) == ""


@pytest.mark.django_db
def test_every_field_that_the_server_sends_is_looked_at(node: Node) -> None:
    job = factories.job(node, "say")
    job.address, job.inventory, job.team = "", [], "1"
    assert {*protocol.job_as_json(job)} == {"id", *orders._FORMS}
    assert orders.problem_of(protocol.job_as_json(job)) == ""


@pytest.mark.parametrize("job", [None, 1, "x", [], {}, {"id": None}, {"id": 1}, {"id": "x"}, {"id": ["x"]}])
def test_what_has_no_id_is_no_job(job: object) -> None:
    assert orders.id_of(job) == ""


@pytest.mark.parametrize(
    "answer", [{}, {"jobs": None, "stop": None}, {"jobs": 1, "stop": "x"}, {"jobs": {}, "stop": [1]}]
)
def test_an_answer_without_lists_has_no_jobs(answer: dict[str, Any]) -> None:
    assert orders.jobs_in(answer) == orders.ids_in(answer, "stop") == []


def test_no_sign_of_a_text_reaches_a_terminal() -> None:
    text = "".join(map(chr, itertools.chain(range(0x500), (0x2028, 0x202E, 0xD800, 0xFEFF, 0x1F600))))
    assert escaped(text).isprintable()
    assert escaped("a\n\x1b[2J\\") == "a\\n\\x1b[2J\\"
    assert len(escaped("x" * 10**6)) < LONGEST + 50


# What becomes of a job, by the last word of its command.
BAD: list[tuple[str, Any]] = [
    ("argv", None), ("argv", [1]), ("time_limit_s", math.nan), ("time_limit_s", math.inf), ("time_limit_s", -1),
    ("files", 3), ("environment", [["x"]]), ("start_at", "x"), ("collect", {}), ("id", "x"), ("id", None),
]  # fmt: skip


class Spoiler(MessageProxy):
    """Passes a poll's jobs on with their fields spoilt: each second one has one of the values above."""

    def rewritten(self, request: bytes, answer: bytes) -> bytes:
        """Return an answer, that to a poll with jobs with them spoilt."""
        head, _blank, body = answer.partition(b"\r\n\r\n")
        if b"/agent/v1/poll " not in request.partition(b"\r\n")[0] or b'"jobs"' not in body:
            return answer
        data = json.loads(body)
        for job in data["jobs"]:
            place, is_good = divmod(int(job["argv"][1]), 2)
            if not is_good:
                job[BAD[place][0]] = BAD[place][1]
        body = json.dumps(data).encode()
        head = re.sub(rb"(?i)content-length: \d+", b"Content-Length: %d" % len(body), head)
        return head + b"\r\n\r\n" + body


@pytest.mark.django_db(transaction=True)
def test_bad_jobs_of_a_poll_cost_the_others_nothing(idle_agent: AgentProgram, node: Node, server: LiveServer) -> None:
    relay = Spoiler(server.port)
    tools.configure(idle_agent.folder, server=f"http://127.0.0.1:{relay.port}")
    jobs = [factories.job(node, "say", str(number)) for number in range(2 * len(BAD))]
    idle_agent.start()
    try:
        for number, job in enumerate(jobs):
            field = BAD[number // 2][0]
            if number % 2:
                assert (ended(job).fault, job.pk) == ("", job.pk)
            elif field != "id":
                assert ended(job).fault == "not-started"
                assert ended(job).fault_detail.startswith(f"its “{field}” must be ")
        assert idle_agent.said("The server handed out something that is no job")
    finally:
        idle_agent.stop()
        relay.close()


@pytest.mark.django_db(transaction=True)
def test_no_job_writes_lines_of_the_log(agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "say", "x\n2026-01-01 00:00:00,000 Agent 9.9 calls https://evil.example.org\x1b[2J\r")
    ended(job)
    wait_for(lambda: agent.said(str(job.pk)))
    log = agent.log.read_bytes()
    assert b"\x1b" not in log
    assert b"\r" not in log
    assert b"x\\n2026-01-01" in log
    assert all(re.match(rb"\d{4}-|  \| ", line) for line in log.splitlines())
