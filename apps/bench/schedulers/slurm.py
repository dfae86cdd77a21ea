"""What Slurm's commands print: jobs with their states, times and reasons, or why there is none."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.bench.outputs.documents import dig, first_object
from apps.bench.outputs.failures import failure
from apps.bench.schedulers import accounts, jobs
from apps.bench.schedulers.jobs import Json, Moment, ScheduledJob, printable

PROGRAMS = ("sbatch", "srun", "salloc", "scontrol", "squeue", "sinfo", "scancel", "sacct")

# slurm.h: the states of a job, as squeue(1) and scontrol(1) name them.
STATES = {
    "PENDING": jobs.PENDING,
    "CONFIGURING": jobs.PENDING,
    "REQUEUED": jobs.PENDING,
    "REQUEUE_FED": jobs.PENDING,
    "POWER_UP_NODE": jobs.PENDING,
    "REQUEUE_HOLD": jobs.HELD,
    "RESV_DEL_HOLD": jobs.HELD,
    "SPECIAL_EXIT": jobs.HELD,
    "STOPPED": jobs.HELD,
    "SUSPENDED": jobs.HELD,
    "RUNNING": jobs.RUNNING,
    "COMPLETING": jobs.RUNNING,
    "RESIZING": jobs.RUNNING,
    "SIGNALING": jobs.RUNNING,
    "STAGE_OUT": jobs.RUNNING,
    "COMPLETED": jobs.COMPLETED,
    "FAILED": jobs.FAILED,
    "OUT_OF_MEMORY": jobs.FAILED,
    "LAUNCH_FAILED": jobs.FAILED,
    "BOOT_FAIL": jobs.NODE_FAILED,
    "NODE_FAIL": jobs.NODE_FAILED,
    "RECONFIG_FAIL": jobs.NODE_FAILED,
    "CANCELLED": jobs.CANCELLED,
    "PREEMPTED": jobs.CANCELLED,
    "REVOKED": jobs.CANCELLED,
    "TIMEOUT": jobs.TIMED_OUT,
    "DEADLINE": jobs.TIMED_OUT,
}
# A pending job with one of these reasons waits until someone changes the job or the cluster (squeue(1), JOB REASON
# CODES). Limits of a user, an account or a group pass as other jobs end; nodes that are not named are only in use.
IMPOSSIBLE = re.compile(
    r"PartitionNodeLimit|PartitionTimeLimit|BadConstraints|InvalidQOS|InvalidAccount|DependencyNeverSatisfied"
    r"|AccountNotAllowed|QOSNotAllowed|Max\w{1,60}Per(?:Job|Node)(?![a-z])|MaxMemPerLimit|QOSMin[A-Z]|DeadLine"
    r"|ReqNodeNotAvail, ?UnavailableNodes:\w"
)
_HELD = re.compile(r"JobHeld(Admin|User)|BeginTime")
_KEY = re.compile(r"([A-Z][A-Za-z0-9/:]{0,40})=(.*)", re.DOTALL)

_ERRORS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^.*Invalid job id specified.*$", re.M), "job-missing"),
    (re.compile(r"^.*accounting storage is disabled.*$", re.M), "not-accounted"),
    (
        re.compile(r"^.*(?:Unable to contact slurm controller|Connection refused|Socket timed out).*$", re.M),
        "no-scheduler",
    ),
    (re.compile(r"^.*unrecognized option.*$", re.M), "queue-refused"),
    (
        re.compile(r"^.*(?:Requested node configuration is not available|allocation failure).*$", re.M),
        "queue-impossible",
    ),
    (re.compile(r"^s(?:run|alloc): Requested partition configuration not available now.*$", re.M), "not-granted"),
    (re.compile(r"^s(?:run|alloc): Job allocation \d+ has been revoked.*$", re.M), "not-granted"),
    (re.compile(r"^s(?:batch|run|alloc|control|queue|info|cancel): error: .*$", re.M), "queue-refused"),
)
_SUBMITTED = re.compile(r"^(?:Submitted batch job )?(\d{1,12})(?:;\S{1,64})?\s*$", re.M)
_LAUNCH = re.compile(r"^s(?:run|alloc): (?:job (\d{1,12}) |Granted job allocation (\d{1,12}))(.*)$", re.M)
_VERSION = re.compile(r"^slurm(?:-wlm)? (\d{1,4}\.\d{1,4}[.\w-]{0,20})\s*$", re.M)
# They go on all the same; what they warn of is kept beside what they did.
_WARNING = re.compile(r"^s(?:batch|run|alloc): [Ww]arning: (.*)$\n?", re.M)
_SIGN = re.compile(
    r"^JobId=\d+ |Slurm OpenAPI|slurm_load_\w{1,60} error|^s(?:run|batch|alloc|control|queue|info|cancel): "
    r"|^Submitted batch job \d|^slurm(?:-wlm)? \d",
    re.M,
)


def recognises(text: str, program: str) -> bool:
    """Return whether a text is one of Slurm's commands'; `program` is its name, if that is known."""
    return program in PROGRAMS or bool(_SIGN.search(text)) or accounts.is_table(text)


def read(text: str, argv: Sequence[str], program: str) -> Json:
    """Return ``{"kind", "version", "jobs"}`` of an output, or raise the ToolFailure it tells of.

    Where it warned there are ``"warnings"``, too: of fewer nodes than were asked for, for example.
    """
    warnings = [printable(warning.strip()) for warning in _WARNING.findall(text)]
    answer = _read(_WARNING.sub("", text), argv, program, is_warned=bool(warnings))
    return {**answer, "warnings": warnings} if warnings else answer


def _read(text: str, argv: Sequence[str], program: str, *, is_warned: bool) -> Json:
    if '"Slurm OpenAPI' in text or text.lstrip().startswith("{"):
        return _answer("jobs", read_json(text))
    table = accounts.read_table(text, STATES)
    if table is not None:
        return _answer("jobs", filter(None, map(_job_of, table)))
    records = read_records(text)
    if records:
        return _answer("jobs", records)
    for pattern, code in _ERRORS:
        match = pattern.search(text)
        if match:
            raise failure(code, said=_all_of(text, match))
    version = _VERSION.search(text)
    if version:
        return {**_answer("version", []), "version": version[1]}
    if program == "scancel":
        ids = [word for word in argv[1:] if word.isdecimal()]
        return _answer("cancelled", [ScheduledJob(job_id, jobs.CANCELLED) for job_id in ids])
    launched = read_launch(text)
    if launched:
        return _answer("launched", launched)
    submitted = _SUBMITTED.search(text)
    if submitted and program in ("sbatch", ""):
        return _answer("submitted", [ScheduledJob(submitted[1], jobs.SUBMITTED)])
    if is_warned or (program in ("srun", "salloc") and text.strip()):
        return _answer("launched", [])
    raise failure("queue-unreadable")


def read_records(text: str) -> list[ScheduledJob]:
    """Return the jobs of ``scontrol show job`` (with or without -o) or of a jobcomp/filetxt log."""
    records: list[dict[str, str]] = []
    for line in text.splitlines():
        fields, last = {}, ""
        for word in line.split():
            match = _KEY.fullmatch(word)
            if match:
                last = match[1]
                fields[last] = match[2]
            elif last:
                fields[last] += f" {word}"
        if "JobId" in fields:
            records.append(fields)
        elif records and line.startswith((" ", "\t")):
            records[-1].update(fields)
    return [job for job in map(_job_of, records) if job]


def _job_of(fields: Mapping[str, str]) -> ScheduledJob | None:
    job_id, raw_state = fields.get("JobId", ""), fields.get("JobState", "").partition(" ")[0]
    if not accounts.JOB.fullmatch(job_id) or not raw_state:
        return None
    reason = "" if fields.get("Reason") in (None, "None") else fields["Reason"]
    code, _colon, signal = fields.get("ExitCode", "").partition(":")
    submitted, started, ended = (
        jobs.read_iso(fields.get(name, "")) for name in ("SubmitTime", "StartTime", "EndTime")
    )
    state = state_of(raw_state, reason)
    started, ended = _reached(state, started, ended)
    minutes = jobs.whole(fields.get("TimeLimit", ""))
    counted = jobs.read_span(fields.get("RunTime", ""))
    return ScheduledJob(
        job_id=job_id,
        state=state,
        raw_state=printable(raw_state),
        name=printable(fields.get("JobName") or fields.get("Name", "")),
        queue=printable(fields.get("Partition", "")),
        reason=printable(reason),
        is_impossible=is_impossible(state, reason),
        submitted_at=jobs.say_time(submitted),
        started_at=jobs.say_time(started),
        ended_at=jobs.say_time(ended),
        queue_time=jobs.between(submitted, started),
        run_time=jobs.ran_for(started, ended, counted) if state in jobs.ENDED else None,
        time_limit=60.0 * minutes if minutes is not None else jobs.read_span(fields.get("TimeLimit", "")),
        exit_code=jobs.whole(code),
        signal=jobs.whole(signal) or None,
        nodes=tuple(map(printable, jobs.expand_hosts(fields.get("NodeList", "")))),
        processors=jobs.whole(fields.get("NumCPUs") or fields.get("ProcCnt", "")),
    )


def _reached(state: str, started: Moment | None, ended: Moment | None) -> tuple[Moment | None, Moment | None]:
    """Return a job's start and end without those that are to come: there stands when it may start, or end."""
    if state in (jobs.PENDING, jobs.HELD):
        return None, None
    return started, None if state == jobs.RUNNING else ended


def state_of(raw_state: str, reason: str = "") -> str:
    """Return the common word for Slurm's; a pending job that someone holds is held."""
    state = STATES.get(raw_state, jobs.UNKNOWN)
    return jobs.HELD if state == jobs.PENDING and _HELD.search(reason) else state


def is_impossible(state: str, reason: str) -> bool:
    """Return whether a job in a (common) state waits for a reason that no time removes."""
    return state == jobs.PENDING and bool(IMPOSSIBLE.search(reason))


def read_json(text: str) -> list[ScheduledJob]:
    """Return the jobs of ``squeue --json`` or ``sacct --json`` (times in s since 1970, limits in minutes).

    Until plugin v0.0.38 its values are plain; since then numbers may be unset or infinite, states are lists of words.
    """
    try:
        document = first_object(text) or {}
        listed = [_job_of_json(item) for item in document["jobs"]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise failure("queue-unreadable") from error
    return listed


def _plain(value: Any) -> Any:
    """Return what a value of a later plugin is: a number that is set and finite, or the first of its words."""
    if isinstance(value, Mapping) and "number" in value:
        return None if value.get("infinite") or not value.get("set", True) else value["number"]
    if isinstance(value, Mapping) and "return_code" in value:
        # As wait(2) has it.
        signals = value.get("signal") or {}
        code, signal = _plain(value["return_code"]), _plain(signals.get("id", signals.get("signal_id")))
        return ((code or 0) << 8) + (signal or 0)
    return value[0] if isinstance(value, list) and value else value


def _of_accounts(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job of ``sacct --json`` as ``squeue --json`` would have it; one of the latter as it is."""
    state, times = raw.get("state"), raw.get("time")
    if not isinstance(state, Mapping) or not isinstance(times, Mapping):
        return raw
    got = [item["count"] for item in dig(raw, "tres", "allocated") or () if item["type"] == "cpu"]
    return {
        **raw,
        "job_state": state.get("current"),
        "state_reason": state.get("reason"),
        "submit_time": times.get("submission"),
        "start_time": times.get("start"),
        "end_time": times.get("end"),
        "time_limit": times.get("limit"),
        "elapsed": times.get("elapsed"),  # without suspensions
        "cpus": got[0] if got else dig(raw, "required", "CPUs"),
        "nodes": "" if raw.get("nodes") == "None assigned" else raw.get("nodes"),
    }


def _job_of_json(raw: Mapping[str, Any]) -> ScheduledJob:
    item = {name: _plain(value) for name, value in _of_accounts(raw).items()}
    numbers = {
        name: value
        for name, value in item.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12
    }
    words = {name: printable(value) for name, value in item.items() if isinstance(value, str)}
    submitted, started, ended = (
        jobs.read_epoch(numbers.get(name)) for name in ("submit_time", "start_time", "end_time")
    )
    raw_state, reason = words.get("job_state", ""), words.get("state_reason", "").replace("None", "")
    state = state_of(raw_state, reason)
    started, ended = _reached(state, started, ended)
    status = numbers.get("exit_code")
    counted = float(numbers["elapsed"]) if "elapsed" in numbers else None
    return ScheduledJob(
        job_id=str(numbers["job_id"]),
        state=state,
        raw_state=raw_state,
        name=words.get("name", ""),
        queue=words.get("partition", ""),
        reason=reason,
        is_impossible=is_impossible(state, reason),
        submitted_at=jobs.say_time(submitted),
        started_at=jobs.say_time(started),
        ended_at=jobs.say_time(ended),
        queue_time=jobs.between(submitted, started),
        run_time=jobs.ran_for(started, ended, counted) if state in jobs.ENDED else None,
        time_limit=60.0 * numbers["time_limit"] if "time_limit" in numbers else None,
        # wait(2): the high byte is the exit status, the low one the signal.
        exit_code=status >> 8 if status is not None else None,
        signal=(status & 0x7F) or None if status is not None else None,
        nodes=jobs.expand_hosts(words.get("nodes", "")),
        processors=numbers.get("cpus"),
    )


def read_launch(text: str) -> list[ScheduledJob]:
    """Return the jobs that srun or salloc told of on the way, with the state each had reached."""
    launches: dict[str, ScheduledJob] = {}
    for first, second, rest in _LAUNCH.findall(text):
        job_id = first or second
        waited = bool(launches.get(job_id)) or "queued" in rest
        running = bool(second) or "allocated" in rest
        details = {"waited": "yes" if waited else "no"}
        launches[job_id] = ScheduledJob(job_id, jobs.RUNNING if running else jobs.PENDING, details=details)
    return list(launches.values())


def _answer(kind: str, queued: Iterable[ScheduledJob]) -> Json:
    return {"kind": kind, "version": "", "jobs": [job.as_json() for job in queued]}


def _all_of(text: str, match: re.Match[str]) -> str:
    """Return the line found, and the one after it if that is an error, too: the later one tells more."""
    following = text[match.end() :].lstrip("\n").split("\n", 1)[0]
    return f"{match[0].strip()} {following.strip() if 'error:' in following else ''}".strip()[: jobs.LONGEST]
