"""What agents may say: each request's JSON checked, and turned into what services take."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from apps.agents import bounds, facts
from apps.agents.endpoint import packed
from apps.agents.endpoint.exchange import Problem, bad_field
from apps.agents.models import Job
from apps.agents.services import Introduction, JobReport, OwnToken, PollAnswer
from apps.agents.troubles import Trouble
from apps.core import moments

EVENTS = {"started": Job.State.RUNNING, "ready": Job.State.READY, "finished": Job.State.ENDED}
# An agent has the jobs of one run or two, and what it could not send of some.
MOST_HELD = 1000
MOST_TROUBLES = 20
# How old (s) a report that was never sent can be.
MOST_UNSENT_S = 10 * 365 * 86400.0
# Any time that an agent may name, or its clock may be off, in seconds; the sum of two is still a date.
_SECONDS = 1e10
_COUNT = 2**62
_NUMBERED = re.compile("([0-9a-f]{1,15})-[0-9a-f]{32}")
_PREFIX, _DIGEST = re.compile("[0-9a-f]{12}"), re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class PollQuestion:
    """A poll: the jobs the agent holds and those it is stopping, its clock's offset (s) and uncertainty (s).

    `number` counts the polls of one process, None from a program of an earlier version; `hold_s` is how long (s) it
    wants to wait at most; `running` are those of the held jobs whose programs may be there still; `unsent_s` is the
    age (s) of the oldest report that it could not send, 0 if there is none. `over` are jobs that it was handed though
    they are over for it, with the reasons; `told` is what was acknowledged of held ones.
    """

    held: frozenset[str]
    stopping: frozenset[str]
    offset_s: float | None
    error_s: float | None
    number: int | None = None
    hold_s: float | None = None
    running: frozenset[str] = frozenset()
    unsent_s: float = 0.0
    over: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, Job.State] = field(default_factory=dict)


def question_of(data: Mapping[str, Any]) -> PollQuestion:
    """Return the poll in a body; Problem 400 names what is wrong."""
    clock = _clock(data)
    # A program of an earlier version says nothing of it.
    hold_s, unsent_s = _number(data, "hold_s"), _number(data, "unsent_s") or 0.0
    if not 0 <= unsent_s <= MOST_UNSENT_S:
        raise bad_field("unsent_s", f"must be 0 to {MOST_UNSENT_S:.0f} s")
    return PollQuestion(
        *(_ids(data, "held"), _ids(data, "stopping"), clock.node_offset_s, clock.error_s),
        *(_whole(data, "poll", _COUNT), None if hold_s is None else max(0.0, hold_s), _ids(data, "running")),
        unsent_s=unsent_s,
        over=_words_by_id(data, "over"),
        told={job: EVENTS[event] for job, event in _words_by_id(data, "told").items() if event in EVENTS},
    )


def troubles_of(data: Mapping[str, Any]) -> tuple[Trouble, ...] | None:
    """Return what an agent says is wrong on its node, None if it does not say."""
    entries = data.get("troubles")
    if entries is None:
        return None
    if not isinstance(entries, list) or len(entries) > MOST_TROUBLES:
        raise bad_field("troubles", f"must be a list of at most {MOST_TROUBLES} objects")
    troubles: dict[str, Trouble] = {}
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("code"), str) or not entry["code"]:
            raise bad_field(f"troubles[{place}]", "must be an object with a code")
        code = _text(entry, "code", 32)
        troubles[code] = Trouble(code, _text(entry, "detail", 500))
    return tuple(troubles.values())


def instance_of(text: str) -> uuid.UUID | None:
    """Return the process that the header Fathom-Instance names, None without one; Problem 400 if it names none."""
    if not text:
        return None
    try:
        return uuid.UUID(text)
    except ValueError:
        raise bad_field("Fathom-Instance", "must be a UUID") from None


def number_of(name: str) -> int | None:
    """Return the number that the name of a request begins with (hexadecimal), None for an earlier version's."""
    return int(number[1], 16) if (number := _NUMBERED.fullmatch(name)) else None


def introduction_of(data: Mapping[str, Any], key: uuid.UUID, address: str) -> Introduction:
    """Return how a process introduces itself; Problem 400 names what is wrong."""
    texts = {name: _text(data, name, 64) for name in ("machine", "boot", "folder")}
    host, version = _text(data, "host", 253), _text(data, "version", 32)
    began_ns = _whole(data, "began_ns", 2**63)
    return Introduction(key=key, **texts, began_ns=began_ns, host=host, version=version, address=address[:64])


def enrolment_of(data: Mapping[str, Any]) -> tuple[str, str, OwnToken | None]:
    """Return the token, the agent's version, and what it says of the token that it drew for itself, if it did."""
    token, version, own = _text(data, "token", 200), _text(data, "version", 32), data.get("own")
    if own is None:
        return token, version, None
    if not isinstance(own, dict):
        raise bad_field("own", "must be an object")
    prefix, digest = _text(own, "prefix", 16), _text(own, "digest", 100)
    if not _PREFIX.fullmatch(prefix) or not _DIGEST.fullmatch(digest):
        raise bad_field("own", "must hold a prefix of 12 and a digest of 64 hexadecimal digits")
    return token, version, OwnToken(prefix, digest)


def facts_of(data: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the facts and the agent's version."""
    try:
        node_facts = facts.with_plain_versions(facts.within_bounds(facts.checked_facts(data.get("facts"))))
    except facts.WrongFactError as error:
        raise Problem(400, "bad-field", str(error)) from error
    return node_facts, _text(data, "version", 32)


def state_of(data: Mapping[str, Any]) -> Job.State:
    """Return the state that a report tells; Problem 400 if it tells none."""
    event = data.get("event")
    if not isinstance(event, str) or event not in EVENTS:
        raise bad_field("event", "must be one of " + ", ".join(EVENTS))
    return EVENTS[event]


def has_output(data: Mapping[str, Any]) -> bool:
    """Say whether a report holds both of what a job prints: only so it is kept of a job that was given up."""
    return data.get("stdout") is not None and data.get("stderr") is not None


def report_of(data: Mapping[str, Any], most_bytes: int | None = bounds.MOST_OUTPUT_BYTES) -> JobReport:
    """Return the report in a body; its times, the agent's, are turned into server times by its measured offset.

    Of each output, and of all files together, `most_bytes` are kept, the job's limit. If it is None nothing is kept,
    and nothing unpacked to know that it can be: an agent repeats what it told as often as it likes.
    """
    state = state_of(data)
    packs, most_bytes = (data, most_bytes) if most_bytes is not None else ({}, 0)
    clock = _clock(data)
    shift = clock.offset_s or 0.0
    stdout, stderr = (packed.output_of(packs, name, most_bytes) for name in ("stdout", "stderr"))
    return JobReport(
        state=state,
        started_at=_time(data, "started_at", shift, required=state == Job.State.RUNNING),
        ready_at=_time(data, "ready_at", shift, required=state == Job.State.READY),
        ended_at=_time(data, "ended_at", shift, required=state == Job.State.ENDED),
        exit_code=_whole(data, "exit_code", 2**31),
        signal=_whole(data, "signal", 2**31),
        timed_out=data.get("timed_out") is True,
        fault=_text(data, "fault", 32),
        fault_detail=_text(data, "fault_detail", 4000),
        clock_offset_s=clock.node_offset_s,
        clock_error_s=clock.error_s,
        stdout_z=stdout.stream if stdout else None,
        stderr_z=stderr.stream if stderr else None,
        stdout_bytes=_whole(data, "stdout_bytes", _COUNT) or 0,
        stderr_bytes=_whole(data, "stderr_bytes", _COUNT) or 0,
        truncated=data.get("truncated") is True or any(pack.is_cut for pack in (stdout, stderr) if pack),
        cut_on_way=data.get("cut_on_way") is True,
        collected=packed.files_of(packs, most_bytes),
        telemetry_z=packed.telemetry_of(packs),
    )


def answer_as_json(answer: PollAnswer) -> dict[str, Any]:
    """Return a poll's answer as it is sent."""
    jobs = [job_as_json(job) for job in answer.jobs]
    return {"jobs": jobs, "stop": answer.stop, **({"tell": answer.tell} if answer.tell else {})}


def job_as_json(job: Any) -> dict[str, Any]:
    """Return a job as handed out; `start_at` in server time (s, epoch).

    It is annotated with its node's `address`, and with those that it names of the `inventory`. `team` tells those
    apart whose jobs run as one user of a cluster.
    """
    return {
        "id": str(job.pk),
        "argv": job.argv,
        "background": job.background,
        "ready_pattern": job.ready_pattern,
        "time_limit_s": job.time_limit_s,
        "output_limit_bytes": job.output_limit_bytes,
        "start_at": job.start_at.timestamp() if job.start_at else None,
        "files": job.files,
        "collect": job.collect,
        "environment": job.environment,
        "address": job.address or "",
        "inventory": job.inventory,
        "team": job.team,
    }


def job_id_of(text: str) -> uuid.UUID:
    """Return a job's id from the address; Problem 404 if it is none."""
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Problem(404, "unknown-job", "There is no such job on this node.") from None


def _text(data: Mapping[str, Any], name: str, longest: int) -> str:
    """Return an optional text, cut to `longest` characters, that PostgreSQL can keep."""
    value = data.get(name, "")
    if not isinstance(value, str):
        raise bad_field(name, "must be a text")
    return facts.clean_text(value)[:longest]


def _ids(data: Mapping[str, Any], name: str) -> frozenset[str]:
    value = data.get(name, [])
    if not isinstance(value, list) or len(value) > MOST_HELD:
        raise bad_field(name, f"must be a list of at most {MOST_HELD} job ids")
    try:
        return frozenset(str(uuid.UUID(item)) for item in value)
    except (AttributeError, TypeError, ValueError):
        raise bad_field(name, "must hold job ids only") from None


def _words_by_id(data: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return an object of texts by jobs' ids, each cut to 32 characters; a program of an earlier version has none."""
    words = data.get(name, {})
    if not isinstance(words, dict) or len(words) > MOST_HELD or not all(isinstance(w, str) for w in words.values()):
        raise bad_field(name, f"must be an object of at most {MOST_HELD} texts by job ids")
    try:
        return {str(uuid.UUID(job)): word[:32] for job, word in words.items()}
    except ValueError:
        raise bad_field(name, "must name job ids only") from None


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _SECONDS:
        raise bad_field(name, "must be a number of seconds")
    return float(value)


@dataclass(frozen=True)
class _Clock:
    """Server time less the agent's (s), how sure that is (s), and by how much the node's clock was set since (s)."""

    offset_s: float | None = None
    error_s: float | None = None
    set_s: float = 0.0

    @property
    def node_offset_s(self) -> float | None:
        """Return server time less what the node's own clock shows (s)."""
        return None if self.offset_s is None else self.offset_s - self.set_s


def _clock(data: Mapping[str, Any]) -> _Clock:
    clock = data.get("clock")
    if clock is None:
        return _Clock()
    if not isinstance(clock, dict):
        raise bad_field("clock", "must be an object")
    offset_s, error_s = _number(clock, "offset_s"), _number(clock, "error_s")
    if offset_s is None or error_s is None or error_s < 0:
        raise bad_field("clock", "must hold offset_s and error_s")
    return _Clock(offset_s, error_s, _number(clock, "set_s") or 0.0)


def _time(data: Mapping[str, Any], name: str, shift: float, *, required: bool) -> datetime | None:
    """Return a time of the agent's clock (s since the epoch) in server time."""
    value = _number(data, name)
    if value is None:
        if required:
            raise bad_field(name, "is missing")
        return None
    try:
        moment = datetime.fromtimestamp(value + shift, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.max.replace(tzinfo=UTC)
    if not moments.is_reasonable(moment):
        raise bad_field(name, "is of a year in which nothing is measured")
    return moment


def _whole(data: Mapping[str, Any], name: str, maximum: int) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < maximum:
        raise bad_field(name, "must be a whole number, 0 or more")
    return value
