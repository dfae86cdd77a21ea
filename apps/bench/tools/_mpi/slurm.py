"""Slurm's srun as a launcher: whether the job can start, how long it waited, and why it did not run."""

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.schedulers import jobs
from apps.bench.schedulers.slurm import is_impossible, state_of
from apps.bench.toolkit import Command, Output, Stage, ToolFailure
from apps.bench.tools._mpi.launch import ROLE, Launch, make_command
from apps.bench.tools._mpi.placement import DISTRIBUTED, FREE, OTHER_SOCKET, UNBALANCED

# What the agent may add to the queue's own limit before it gives up: srun has to hand in the job and start it.
MARGIN_S = 30.0
CHECK_LIMIT_S = 30.0
WATCH_EVERY_S = 5
# squeue's letters: number, state, reason, handed in, started, ended, nodes.
FORMAT = "%i|%T|%r|%V|%S|%e|%N"

_ROW = re.compile(
    r"^(\d{1,12})\|(\w{1,40})\|([^|\n]{0,200})\|([^|\n]{0,40})\|([^|\n]{0,40})\|([^|\n]{0,40})\|(.{0,2000})$", re.M
)
_JOB = re.compile(r"^srun: (?:jobid (\d{1,12}): |job (\d{1,12}) (?:queued|has been))", re.M)
_CANNOT = re.compile(r"^(?:allocation failure: .*|srun: error: (?:.*invalid|Unable to allocate|Invalid) ?.*)$", re.M)
_SHARED = re.compile(r"^fathom-slurm: job (\d{1,12}) (?:taken|shared), waited (\d{1,9}\.\d) s$", re.M)
_NO_SHARE = re.compile(r"^fathom-slurm: error: ([^\n]{1,300})$", re.M)
_WAITING = re.compile(r"job \d{1,12} is (?:PENDING|CONFIGURING) \((\w{1,60})\)")
_BUSY = re.compile(r"^srun: error: Unable to allocate resources: Requested nodes are busy", re.M)


@dataclass(frozen=True)
class Queued:
    """A job as squeue saw it last; times in s, None where it has not come so far."""

    job_id: str
    state: str
    reason: str
    queue_time: float | None
    run_time: float | None
    nodes: tuple[str, ...]


def command(launch: Launch) -> Command:
    """Return srun: verbose, so that it tells the job's number and where each task starts."""
    queue_limit_s = launch.params["queue_limit"]
    if launch.params["bundle"]:
        argv = _in_bundle(launch)
    else:
        argv = ["srun", f"--job-name={name_of(launch)}", f"--immediate={math.ceil(queue_limit_s)}", *_claim(launch)]
    argv += ["--verbose", *_shape(launch)]
    if launch.params["slurm_mpi"]:
        argv.append(f"--mpi={launch.params['slurm_mpi']}")
    if launch.directory:
        argv.append(f"--chdir={launch.directory}")
    plain = make_command(launch, [*argv, *launch.argv])
    limit = launch.time_limit_s + queue_limit_s + MARGIN_S
    return Command(**{**vars(plain), "time_limit_s": limit})


def before(launch: Launch) -> tuple[Stage, ...]:
    """Return srun's forecast, without which the run ends at once, and a look at the queue now and then."""
    forecast = Command(
        role=ROLE,
        node_index=0,
        argv=("srun", "--test-only", *_claim(launch), *_shape(launch), *launch.argv[:1]),
        time_limit_s=CHECK_LIMIT_S,
        # A background command that ends before it is ready ends the run: nobody waits for what cannot come.
        background=True,
        ready_pattern=r"^srun: Job \d+ to start at",
        measures=False,
        ends_by_itself=True,
    )
    watch = Command(
        role=ROLE,
        node_index=0,
        argv=("squeue", f"--iterate={WATCH_EVERY_S}", *_only(launch)),
        time_limit_s=launch.time_limit_s + launch.params["queue_limit"] + 2 * MARGIN_S,
        background=True,
        measures=False,
        optional=True,
    )
    return (Stage("forecast", (forecast,)), Stage("watch", (watch,)))


def after(launch: Launch) -> tuple[Stage, ...]:
    """Return the last look at the queue, which remembers the job for some minutes."""
    account = Command(
        role=ROLE,
        node_index=0,
        argv=("squeue", *_only(launch)),
        time_limit_s=CHECK_LIMIT_S,
        measures=False,
        optional=True,
    )
    return (Stage("account", (account,)),)


def name_of(launch: Launch) -> str:
    """Return the job's name: the same for all repetitions of one point, so that squeue need not list the cluster.

    Trials that share an allocation have its name; another shape, partition or time limit is another allocation.
    """
    if launch.params["bundle"]:
        identity = "\0".join([launch.params["bundle"], *_room(launch)])
    else:
        identity = "\0".join([*launch.argv, *_shape(launch), *_claim(launch), launch.directory])
    return f"fathom-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def _only(launch: Launch) -> tuple[str, ...]:
    return ("--noheader", "--states=all", f"--name={name_of(launch)}", f"--format={FORMAT}")


def _shape(launch: Launch) -> list[str]:
    """Return the options of how many, where, and how long."""
    params, counts = launch.params, launch.counts
    argv = [f"--nodes={len(counts)}", f"--ntasks={len(launch.slots)}"]
    if len(set(counts.values())) == 1:
        argv.append(f"--ntasks-per-node={next(iter(counts.values()))}")
    nodes = "cyclic" if launch.is_cyclic else "block"
    cores = _cores(launch)
    packed = ",Pack" if params.get("node_placement") == UNBALANCED else ""
    argv.append(f"--distribution={nodes}:{cores or '*'}{packed}")
    argv.append("--cpu-bind=verbose" + (",cores" if cores else ""))
    return argv


def _cores(launch: Launch) -> str:
    """Return srun's word for the order of sockets, "" where it is left to the cluster."""
    params = launch.params
    if "core_placement" in params:
        return {FREE: "", DISTRIBUTED: "cyclic"}.get(params["core_placement"], "block")
    placement = params.get("placement", FREE)
    return "" if placement == FREE else "cyclic" if placement == OTHER_SOCKET else "block"


def _claim(launch: Launch) -> list[str]:
    """Return the options of time and partition.

    A job may take what the agent gives the measurement; an allocation that trials share, what the cluster gives all.
    """
    params = launch.params
    seconds = params["job_time"] or (0 if params["bundle"] else launch.time_limit_s)
    argv = [f"--time={max(1, math.ceil(seconds / 60))}"] if seconds else []
    return [*argv, *([f"--partition={params['partition']}"] if params["partition"] else [])]


def _room(launch: Launch) -> list[str]:
    """Return the options of an allocation that trials share: room for the largest of them."""
    ranks = max(launch.params["bundle_ranks"], len(launch.slots))
    return [f"--nodes={len(launch.nodes)}", f"--ntasks={ranks}", *_claim(launch)]


def _in_bundle(launch: Launch) -> list[str]:
    """Return the words that take the shared allocation, or a new one, and become srun in it."""
    params = launch.params
    argv = ["fathom-slurm", "--name", name_of(launch)]
    argv += ["--idle", f"{params['bundle_idle']:g}", "--wait", f"{params['queue_limit']:g}"]
    for program in ("sbatch", "squeue", "scancel"):
        argv += [f"--{program}", f"{{program:{program}}}"]
    return [*argv, *_room(launch), "--", "{program:srun}"]


def read_queue(outputs: Sequence[Output], output: Output) -> Queued | None:
    """Return what the queue told of an output's job, the last word counting; None if it told nothing."""
    match = _JOB.search(texts.read_text(output))
    job_id = (match[1] or match[2]) if match else ""
    shared = _SHARED.search(texts.read_text(output))
    last = None
    for other in outputs:
        if other.stage in ("watch", "account"):
            for row in _ROW.findall(texts.read_text(other)):
                if row[0] == job_id and (last is None or row[1] != "CANCELLED" or not last.reason):
                    last = _queued(row)
    if shared and shared[1] == job_id:
        # The allocation's own times are those of its first trial; this one waited so long.
        return Queued(job_id, last.state if last else "", "", float(shared[2]), None, last.nodes if last else ())
    return last


def _queued(row: Sequence[str]) -> Queued:
    job_id, raw_state, reason, *times, nodes = row
    submitted, started, ended = map(jobs.read_iso, times)
    state = state_of(raw_state, reason)
    if state in (jobs.PENDING, jobs.HELD):
        # These are forecasts.
        started = ended = None
    run_time = jobs.between(started, ended) if state != jobs.RUNNING else None
    state_reason = "" if reason == "None" else reason
    return Queued(job_id, state, state_reason, jobs.between(submitted, started), run_time, jobs.expand_hosts(nodes))


def why_none(outputs: Sequence[Output], output: Output | None) -> ToolFailure | None:
    """Return why Slurm gave no result, None if that does not lie with Slurm."""
    for other in outputs:
        if other.stage == "forecast":
            match = _CANNOT.search(texts.read_text(other))
            if match:
                return failure("queue-impossible", other, said=match[0].strip()[:200])
    if output is None:
        return None
    queued = read_queue(outputs, output)
    text = texts.read_text(output)
    refused = _NO_SHARE.search(text)
    if refused:
        return _why_not_shared(output, refused[1])
    if queued and is_impossible(jobs.PENDING, queued.reason) and queued.queue_time is None:
        return failure("queue-impossible", output, said=f"{queued.reason} (job {queued.job_id})")
    if _BUSY.search(text) or (output.timed_out and queued and queued.state == jobs.PENDING):
        reason = f"{queued.reason} (job {queued.job_id})" if queued else "Requested nodes are busy"
        return failure("queue-limit", output, seconds=_limit_of(output), said=reason)
    if re.search(r"CANCELLED AT \S+ DUE TO TIME LIMIT", text):
        return failure("job-timed-out", output, said=queued.job_id if queued else "DUE TO TIME LIMIT")
    match = re.search(r"^(?:slurmstepd\S*: )?error: \*\*\* (?:STEP|JOB) \S+ .*CANCELLED AT.*$", text, re.M)
    if match and not output.timed_out and output.signal is None:
        return failure("job-cancelled", output, said=match[0].strip()[:200])
    match = re.search(r"^srun: error: (?:Node failure on .*|Job allocation \d+ has been revoked.*)$", text, re.M)
    if match:
        return failure("job-node-failed", output, said=match[0].strip()[:200])
    match = re.search(r"^srun: (?:error: Unable to allocate.*|Job allocation \d+ has been revoked.*)$", text, re.M)
    return failure("not-granted", output, said=match[0].strip()[:200]) if match else None


def _why_not_shared(output: Output, text: str) -> ToolFailure:
    waiting = _WAITING.search(text)
    if waiting and is_impossible(jobs.PENDING, waiting[1]):
        return failure("queue-impossible", output, said=waiting[0])
    if waiting:
        return failure("queue-limit", output, seconds=_limit_of(output), said=waiting[0])
    return failure("queue-refused", output, said=text)


def _limit_of(output: Output) -> str:
    for index, word in enumerate(output.argv):
        if word.startswith("--immediate="):
            return word.partition("=")[2]
        if word == "--wait" and index + 1 < len(output.argv):
            return output.argv[index + 1]
    return "?"
