"""What the commands of Grid Engine print, and its accounting file: jobs with states and times, hosts, or a reason."""

import re
import signal
from collections.abc import Mapping, Sequence

from apps.bench.outputs.failures import failure
from apps.bench.schedulers import jobs
from apps.bench.schedulers.jobs import Json, Moment, ScheduledJob, moment, printable

PROGRAMS = ("qsub", "qstat", "qacct", "qhost", "qdel", "qrsh")

_YEAR = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_MONTHS = {name: number for number, name in enumerate(_YEAR.split(), 1)}
_CTIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})")
_TABLE_TIME = re.compile(r"(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)")

_NO_MASTER = (
    r"(?:commlib error|unable to (?:contact|send)|can't (?:find|connect|contact|resolve)|could not (?:find|connect)"
    r"|getting configuration|Please set the environment variable SGE_ROOT|unresolvable hostname|[^\n]*qmaster)"
)
_ERRORS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"^(?:(?:critical )?error|Unable to run job): {_NO_MASTER}.*$", re.M), "no-scheduler"),
    (re.compile(r"^Unable to run job: .*$", re.M), "queue-refused"),
    (re.compile(r"^Following jobs do not exist:.*$", re.M), "job-missing"),
    (re.compile(r"^error: job id \d+ not found.*$", re.M), "job-missing"),
    (re.compile(r"^denied: job \"?\d+\"? does not exist.*$", re.M), "job-missing"),
    (re.compile(r"^(?:error|denied|q(?:sub|stat|acct|host|del|rsh|alter|mod)): .*$", re.M), "queue-refused"),
)
_ROW = re.compile(
    r"^ *(\d{1,12}) +(\d+\.\d+) +(\S+) +(\S+) +([a-zA-Z]{1,8}) +(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d) +"
    r"(?:([^\s@]{1,255}@\S{1,255}) +)?(\d{1,9})(?: |$)",
    re.M,
)
_XML_JOB = re.compile(r"<job_list\b[^<>]*>(.*?)</job_list>", re.DOTALL)
_XML_FIELD = re.compile(r"<(\w{1,64})>([^<>]*)</\1>")
_SUBMITTED = re.compile(r'^(?:Your job )?(\d{1,12})(?: \("(.{1,200}?)"\) has been submitted)?\s*$', re.M)
_USAGE = re.compile(r"^usage {1,20}\d{1,9}: {1,40}cpu=", re.M)
_EXITED = re.compile(r"^Job (\d{1,12}) exited with exit code (\d{1,3})\.", re.M)
_CATEGORY_LIMIT = re.compile(r"\bh_rt=(\d{1,9})\b")
# complex(5), sge_diagnostics(1): what `qstat -j` says when a request exceeds all that there is.
_NEVER = re.compile(
    r"cannot run in PE .* because it only offers 0 slots|does not offer sufficient|no suitable queues"
)
_SIGN = re.compile(
    r"^qname {2,}\S|^job_number: {2,}\d|^job-ID +prior +name|^queuename +qtype|<job_info\b|^HOSTNAME +ARCH +NCPU"
    r"|has been submitted$|^Unable to run job: |^Following jobs do not exist|^error: job id \d+ not found"
    rf"|^(?:critical )?error: {_NO_MASTER}|^error: no suitable queues|^denied: (?:job|host|user|client|array) "
    r"|^(?:error: )?(?:ERROR! |Unknown option |q(?:sub|stat|acct|host|del|rsh|alter|mod): )"
    r"|has (?:registered the job|deleted job) \d+",
    re.M,
)
# accounting(5): queue, host, group, owner, name, number, account, priority, three times since 1970, failed, status.
_ACCOUNT = re.compile(
    r"^(?:[^:\n]*:){5}\d{1,12}:[^:\n]*:-?\d{1,6}:(?:\d{1,13}:){3}\d{1,4}:\d{1,5}:(?:[^:\n]*:){26,}", re.M
)
_DELETED = re.compile(r"has (?:registered the job|deleted job) (\d{1,12})")


def recognises(text: str, program: str) -> bool:
    """Return whether a text is Grid Engine's; `program` is the command's name, if that is known."""
    return program in PROGRAMS or bool(_SIGN.search(text) or _ACCOUNT.search(text))


def read(text: str, argv: Sequence[str], program: str) -> Json:
    """Return ``{"kind", "jobs"}`` (of qhost: "hosts") of an output, or raise the ToolFailure it tells of."""
    if re.search(r"^qname {2,}", text, re.M):
        return _answer("accounting", [_accounted(block) for block in text.split("=" * 20) if "jobnumber" in block])
    lines = [line.split(":") for line in text.splitlines() if _ACCOUNT.match(line) and line[0] != "#"]
    if lines:
        return _answer("accounting", [_accounted_line(line) for line in lines])
    if re.search(r"^job_number: {2,}", text, re.M):
        return _answer("jobs", [_described(text)])
    if "<job_info" in text:
        return _answer("jobs", [_queued_xml(body) for body in _XML_JOB.findall(text)])
    if re.search(r"^job-ID +prior|^queuename +qtype", text, re.M):
        return _answer("jobs", [_queued(row) for row in _ROW.findall(text)])
    if re.search(r"^HOSTNAME +ARCH", text, re.M):
        return {**_answer("hosts", []), "hosts": _hosts(text)}
    if deleted := _DELETED.findall(text):
        return _answer("cancelled", [ScheduledJob(job_id, jobs.CANCELLED) for job_id in deleted])
    for pattern, code in _ERRORS:
        match = pattern.search(text)
        if match:
            rest = " ".join(text[match.start() :].split())
            raise failure(code, said=rest.removesuffix("Exiting.").strip()[: jobs.LONGEST])
    return _answer("submitted", _submitted(text, program))


def _submitted(text: str, program: str) -> list[ScheduledJob]:
    ended = {job_id: int(code) for job_id, code in _EXITED.findall(text)}
    submitted = []
    for job_id, name in _SUBMITTED.findall(text):
        if not name and program != "qsub":
            continue
        code = ended.get(job_id)
        state = jobs.SUBMITTED if code is None else jobs.FAILED if code else jobs.COMPLETED
        submitted.append(ScheduledJob(job_id, state, name=printable(name), exit_code=code))
    if not submitted:
        raise failure("queue-unreadable")
    return submitted


def _accounted(block: str) -> ScheduledJob:
    """Return the job of one block of ``qacct -j``."""
    fields = {name: value.strip() for name, value in re.findall(r"^(\w{1,40}) +(\S.*)$", block, re.M)}
    times = [_read_ctime(fields.get(name, "")) for name in ("qsub_time", "start_time", "end_time")]
    keys = ("jobnumber", "jobname", "qname", "hostname", "slots", "failed", "exit_status", "category", "ru_wallclock")
    return _ended(dict(zip(_NAMES, [fields.get(key, "") for key in keys], strict=True)), times)


def _accounted_line(cells: Sequence[str]) -> ScheduledJob:
    """Return the job of one line of the accounting file (accounting(5)); its times are seconds since 1970."""
    times = [jobs.read_epoch(jobs.whole(cells[column])) for column in (8, 9, 10)]
    columns = (5, 4, 0, 1, 34, 11, 12, 39, 13)
    return _ended(dict(zip(_NAMES, [cells[column] for column in columns], strict=True)), times)


# signal(7): those that the kernel sends a program for what it did itself; nobody cancels a job with them.
_FAULTS = frozenset((signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS))
_NAMES = ("id", "name", "queue", "host", "slots", "failed", "status", "category", "counted")


def _ended(fields: Mapping[str, str], times: Sequence[Moment | None]) -> ScheduledJob:
    if jobs.whole(fields["id"]) is None:
        raise failure("queue-unreadable")
    number, _colon, reason = fields["failed"].partition(":")
    failed, status = jobs.whole(number) or 0, jobs.whole(fields["status"].partition("(")[0])
    limit = _CATEGORY_LIMIT.search(fields["category"])
    counted = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)s?", fields["counted"])
    submitted, started, ended = times
    return ScheduledJob(
        job_id=fields["id"],
        state=_end_state(failed, status),
        raw_state=f"failed {failed}, exit status {status}",
        name=printable(fields["name"]),
        queue=printable(fields["queue"]),
        reason=printable(reason),
        submitted_at=jobs.say_time(submitted),
        started_at=jobs.say_time(started),
        ended_at=jobs.say_time(ended),
        queue_time=jobs.between(submitted, started),
        run_time=jobs.ran_for(started, ended, float(counted[1]) if counted else None),
        time_limit=float(limit[1]) if limit else None,
        exit_code=status if status is not None and status <= 128 else None,
        # accounting(5): an exit status over 128 is a signal's number and 128.
        signal=status - 128 if status is not None and status > 128 else None,
        nodes=(printable(fields["host"]),) if fields["host"] else (),
        processors=jobs.whole(fields["slots"]),
    )


def _end_state(failed: int, status: int | None) -> str:
    """Return how a job ended; the numbers of `failed` are those of accounting(5)."""
    if failed == 37:
        return jobs.TIMED_OUT
    if failed == 100 and (status or 0) - 128 not in _FAULTS:
        return jobs.CANCELLED
    return jobs.FAILED if failed or status else jobs.COMPLETED


# The letters of jobs that a host has: suspended by a person, with the queue, or at a threshold; transferred, running.
_SUSPENDED = frozenset("sST")
_STARTED = _SUSPENDED | {"t", "r"}


def _queue_state(raw_state: str) -> str:
    """Return the common word for the letters of qstat(1)."""
    if "E" in raw_state:
        return jobs.FAILED
    if {*raw_state} & _SUSPENDED:
        return jobs.HELD
    if {*raw_state} & _STARTED:
        # A hold of a job that runs is for when it is started again.
        return jobs.RUNNING
    if "h" in raw_state:
        return jobs.HELD
    return jobs.PENDING if "w" in raw_state else jobs.RUNNING


def _queued(row: Sequence[str]) -> ScheduledJob:
    job_id, _priority, name, _user, raw_state, when, instance, slots = row
    match = _TABLE_TIME.match(when)
    month, day, year, *clock = map(int, match.groups()) if match else (0, 0, 0)
    return _waiting(job_id, name, raw_state, moment(year, month, day, *clock), instance, slots)


def _queued_xml(body: str) -> ScheduledJob:
    fields = dict(_XML_FIELD.findall(body))
    when = jobs.read_iso(fields.get("JB_submission_time") or fields.get("JAT_start_time", ""))
    job_id = fields.get("JB_job_number", "")
    if jobs.whole(job_id) is None:
        raise failure("queue-unreadable")
    instance, slots = fields.get("queue_name", ""), fields.get("slots", "")
    return _waiting(job_id, fields.get("JB_name", ""), fields.get("state", ""), when, instance, slots)


def _waiting(job_id: str, name: str, raw_state: str, when: Moment | None, instance: str, slots: str) -> ScheduledJob:
    state = _queue_state(raw_state)
    queue, _at, host = instance.partition("@")
    # The one time of the table is that of the start for a job that has started, though it is suspended now.
    has_started = state == jobs.RUNNING or bool({*raw_state} & _STARTED)
    return ScheduledJob(
        job_id=job_id,
        state=state,
        raw_state=printable(raw_state),
        name=printable(name),
        queue=printable(queue),
        submitted_at="" if has_started else jobs.say_time(when),
        started_at=jobs.say_time(when) if has_started else "",
        nodes=(printable(host),) if host else (),
        processors=jobs.whole(slots),
    )


def _described(text: str) -> ScheduledJob:
    """Return the job of ``qstat -j``, with the scheduler's reason why it waits."""
    fields = {
        name.strip(): value.strip() for name, value in re.findall(r"^([a-z][\w ]{0,40}?): +(\S.*)$", text, re.M)
    }
    reason = fields.get("scheduling info", "")
    slots = re.search(r"range: (?:\d+-)?(\d{1,9})", fields.get("parallel environment", ""))
    if jobs.whole(fields.get("job_number", "")) is None:
        raise failure("queue-unreadable")
    return ScheduledJob(
        job_id=fields["job_number"],
        # Only of tasks that run it tells what they have used.
        state=jobs.RUNNING if _USAGE.search(text) else jobs.PENDING,
        name=printable(fields.get("job_name", "")),
        reason=printable(reason),
        is_impossible=bool(_NEVER.search(reason)),
        submitted_at=jobs.say_time(_read_ctime(fields.get("submission_time", ""))),
        processors=int(slots[1]) if slots else None,
    )


def _hosts(text: str) -> list[Json]:
    rows = re.findall(r"^(\S+) +(\S+) +(\d{1,6}) +(\d{1,6}) +(\d{1,6}) +(\d{1,6}) ", text, re.M)
    return [
        {
            "name": printable(name),
            "architecture": printable(kind),
            "processors": int(processors),
            "sockets": int(sockets),
            "cores": int(cores),
            "threads": int(threads),
        }
        for name, kind, processors, sockets, cores, threads in rows
    ]


def _read_ctime(text: str) -> Moment | None:
    """Return the time of ctime(3)'s form, or of Univa's; `strptime` would ask the locale for the months' names."""
    if numeric := _TABLE_TIME.match(text):
        month, day, year, *clock = map(int, numeric.groups())
        return moment(year, month, day, *clock)
    match = _CTIME.match(text)
    if not match or match[1] not in _MONTHS:
        return None
    day, hour, minute, second, year = map(int, match.groups()[1:])
    return moment(year, _MONTHS[match[1]], day, hour, minute, second)


def _answer(kind: str, queued: Sequence[ScheduledJob]) -> Json:
    return {"kind": kind, "jobs": [job.as_json() for job in queued]}
