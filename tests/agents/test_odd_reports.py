"""Whatever stands in a field of what an agent says is read or refused in words: none of it is an error of ours."""

import copy
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.agents.endpoint import protocol
from apps.agents.endpoint.exchange import Problem

CLOCK = {"offset_s": 0.5, "error_s": 0.001, "set_s": 0.0}
JOB = str(uuid.uuid4())
POLL = {
    "held": [JOB], "stopping": [JOB], "running": [JOB], "over": {JOB: "gone"}, "told": {JOB: "started"},
    "clock": CLOCK, "poll": 1, "hold_s": 2.0, "unsent_s": 3.0, "troubles": [{"code": "disk", "detail": "full"}],
}  # fmt: skip
REPORT = {
    "event": "finished", "started_at": time.time(), "ready_at": time.time(), "ended_at": time.time(), "exit_code": 0,
    "signal": 9, "timed_out": False, "fault": "disk", "fault_detail": "full", "stdout": "eJwDAAAAAAE=",
    "stderr": "eJwDAAAAAAE=", "stdout_bytes": 0, "stderr_bytes": 0, "truncated": False, "cut_on_way": False,
    "files": {"a": "eJwDAAAAAAE="}, "telemetry": "eJwDAAAAAAE=", "clock": CLOCK,
}  # fmt: skip
ENROLMENT = {"token": "t", "version": "1", "own": {"prefix": "0" * 12, "digest": "0" * 64}}
INTRODUCTION = {"machine": "m", "boot": "b", "folder": "f", "host": "h", "version": "1"}
FACTS = {"facts": {"hostname": "a", "cpu": {"cores": 2}, "interfaces": [{"name": "e"}], "tools": {}}, "version": "1"}
READERS: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "poll": (protocol.question_of, POLL),
    "troubles": (protocol.troubles_of, POLL),
    "event": (protocol.state_of, REPORT),
    "output": (protocol.has_output, REPORT),
    "report": (protocol.report_of, REPORT),
    "report that is not kept": (lambda data: protocol.report_of(data, None), REPORT),
    "enrolment": (protocol.enrolment_of, ENROLMENT),
    "introduction": (lambda data: protocol.introduction_of(data, uuid.uuid4(), "10.0.0.1"), INTRODUCTION),
    "facts": (protocol.facts_of, FACTS),
}
ODD = (
    None, [], {}, 0, -1, 1.5, True, "", "x" * 5000, "\0", "\ud800", 1e308, 1e999, float("nan"), 10**40, [[]], [None],
    {"a": {}}, ["started"], "started", "１", "٣", [{}], {"": []}, {JOB: []}, [JOB, []],
)  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value of a document."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.parametrize("name", READERS)
def test_an_odd_value_in_each_place_is_read_or_refused(name: str) -> None:
    read, whole = READERS[name]
    read(whole)
    for *path, last in places(whole):
        for odd in ODD:
            data = copy.deepcopy(whole)
            there: Any = data
            for key in path:
                there = there[key]
            there[last] = odd
            try:
                read(data)
            except Problem as problem:
                assert 400 <= problem.status < 500, (path, last, odd)
