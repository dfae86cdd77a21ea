"""One job from acceptance to its last record: checked, started at its instant, attended, written down."""

from __future__ import annotations

import base64
import logging
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import settings, steady
from .clock import Clock
from .config import Config
from .disks import Disk, Hung
from .folders import BadName, Collected, WorkFolder, checked
from .gate import AHEAD_S, Gate
from .identity import Identity
from .kin import birth_of
from .placeholders import Placeholders
from .policy import Guard, Reach
from .process import Process
from .ready import Automaton, BadPattern, compile_pattern
from .refusals import CannotStart
from .removal import WITHIN_S, Clearing
from .sandbox import Confinement
from .spool import Record, Spool
from .telemetry import Recording, Sampler
from .transport import is_loopback
from .troubles import Troubles, fault_of, is_nodes_own

logger = logging.getLogger(__name__)


class Runner(threading.Thread):
    """The thread of one job; `changed` is called after each thing written to its record."""

    def __init__(
        self,
        record: Record,
        *,
        spool: Spool,
        config: Config,
        identity: Identity,
        work: Path,
        clock: Clock,
        sampler: Sampler | None,
        restoration: settings.Restoration,
        clearing: Clearing,
        troubles: Troubles,
        confinement: Confinement,
        silence_s: Callable[[], float],
        changed: Callable[[Record], None],
    ) -> None:
        super().__init__(name=f"job-{record.job_id}", daemon=True)
        self.record = record
        self.stop_asked = threading.Event()
        self._spool, self._config, self._identity, self._clock = spool, config, identity, clock
        self._folder = WorkFolder(work / record.job_id, identity)
        self._changed, self._silence_s = changed, silence_s
        self._process: Process | None = None
        self._sampler, self._restoration, self._confinement = sampler, restoration, confinement
        self._clearing, self._troubles = clearing, troubles
        self._sets = record.job["argv"][:1] == [settings.PROGRAM]
        self._recording: Recording | None = None
        self._switch: settings.Switch | None = None
        self._closing = False

    def stop(self, *, closing: bool = False) -> None:
        """Stop the job, before or after its start; `closing` says that it is the agent itself that ends."""
        self._closing = self._closing or closing
        self.stop_asked.set()
        process = self._process
        if process is not None:
            process.stop()

    def run(self) -> None:
        """Carry the job out; whatever happens is written down."""
        try:
            outcome = self._carry_out(self.record.job)
        except CannotStart as problem:
            outcome = {"fault": problem.fault, "fault_detail": str(problem)}
        except Exception as error:
            logger.exception("Job %s failed in the agent", self.record.job_id)
            outcome = {"fault": "not-started", "fault_detail": f"{type(error).__name__}: {error}"}
        # Whatever fails here too, the end is told: one that is never told holds its nodes until the agent ends.
        if self._recording is not None:
            self._try(self._recording.drop)
        self._try(self._put_settings_back)
        self._note_end(outcome)

    def _try(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception:
            logger.exception("Job %s: what is left of it was not tidied up", self.record.job_id)

    def _carry_out(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return what came of the job; CannotStart says why nothing did."""
        argv = [str(word) for word in job["argv"]]
        identity = self._identity
        if self._sets:
            # It is this program itself, as the agent's own user: a job's could set nothing.
            argv, identity = settings.prepare(job, self._config.settings, self._restoration), Identity.own()
            program = argv[0]
        else:
            program = resolve(argv, self._config)
        placeholders = Placeholders(self._folder.path, lambda name: resolve([name], self._config))
        guard = guard_of(job, self._config, self._folder.path, placeholders)
        variables = [(str(name), str(value)) for name, value in job.get("environment") or ()]
        guard.check(argv, variables, checks_words=identity is self._identity)
        argv = guard.completed(argv)
        argv = [argv[0], *map(placeholders.fill, argv[1:])]
        environment = {name: placeholders.fill(value) for name, value in variables}
        pattern = _compile(job.get("ready_pattern") or "")
        if not self._clearing.wait(WITHIN_S):
            raise CannotStart("node-trouble", "files of an earlier measurement are still being removed")
        self._make_folder(job, placeholders)
        if self._sampler is not None:
            self._recording = self._sampler.record()
        start_at = job.get("start_at")
        if start_at is not None:
            self._clock.wait_until(float(start_at) - AHEAD_S, self.stop_asked)
        if self.stop_asked.is_set():
            raise CannotStart("agent-restarted" if self._closing else "stopped", "stopped before its start")
        try:
            process = Process(
                argv,
                program,
                self._folder.path,
                identity,
                int(job["output_limit_bytes"]),
                environment,
                Gate(self._clock.to_own(float(start_at))) if start_at is not None else None,
                self._confine(argv[0], program, identity),
            )
        except OSError as error:
            raise CannotStart(fault_of(error), f"{program}: {error.strerror}") from error
        self._process = process
        # Its limits are in force before anything of it is written down, for a disk may hang.
        born = birth_of(process.pid)
        process.attend(float(job["time_limit_s"]), pattern)
        if identity is not self._identity:
            self._switch = settings.Switch(process, self._silence_s)
            self._switch.start()
        if self.stop_asked.is_set():
            process.stop()
        if self._recording is not None:
            self._recording.begin(process.pid, process.started_at)
        times = {"started_at": process.started_at, "clock": self._clock.as_json(), "mark": steady.mark()}
        self._note(pid=process.pid, born=born, **times)
        ready_at = process.wait_until_ready()
        if ready_at is not None:
            self._note(ready_at=ready_at)
        process.wait()
        if process.failure_to_start:
            raise CannotStart("not-started", process.failure_to_start)
        return self._outcome_of(process)

    def _confine(self, name: str, program: str, identity: Identity) -> Callable[[], None]:
        """Return what confines the thread that starts the process; nothing for the agent's own programs."""
        if identity is not self._identity:
            return lambda: None
        return lambda: self._confinement.enter(name, program, self._folder.path)

    def _make_folder(self, job: dict[str, Any], placeholders: Placeholders) -> None:
        try:
            for name in job.get("collect") or ():
                checked(str(name))
            files = [(str(name), placeholders.fill(str(text))) for name, text in job.get("files") or ()]
            disk = Disk()
            try:
                disk.do(lambda: self._folder.make(files), WITHIN_S)
            except Hung:
                # Made after all when the disk answers again, and nobody's then.
                disk.begin(lambda: self._clearing.remove(self._folder.path))
                raise
        except BadName as problem:
            raise CannotStart("not-started", f"its work folder: {problem}") from None
        except OSError as error:
            if is_nodes_own(error):
                self._troubles.work.note(error)
            raise CannotStart(fault_of(error), f"its work folder: {error.strerror}") from error

    def _put_settings_back(self) -> str:
        # Should whoever held them not have.
        return self._restoration.restore(self.record.job_id) if self._sets else ""

    def _note(self, **facts: Any) -> None:
        self._spool.note(self.record, **facts)
        self._changed(self.record)

    def _outcome_of(self, process: Process) -> dict[str, Any]:
        interrupted = self._closing and not process.timed_out
        job = self.record.job
        telemetry = ""
        if self._recording is not None:
            telemetry = self._recording.end(str(job.get("address") or ""), process.ended_at)
        files, fault, detail = self._collect(job)
        if remains := self._put_settings_back():
            process.stderr.take(f"{settings.PROGRAM}: {remains}\n".encode())
        if interrupted:
            fault, detail = "agent-restarted", "the agent was stopped"
        elif self._switch is not None:
            fault, detail = self._switch.fault()
            if detail:
                # Of a job that the server gave up meanwhile only what it printed is kept.
                process.stderr.take(f"{settings.PROGRAM}: {detail}\n".encode())
        collected = [
            {"name": file.name, "content": pack(file.content), "size": file.size, "truncated": file.is_cut}
            for file in files
        ]
        return {
            "ended_at": process.ended_at,
            "exit_code": process.exit_code,
            "signal": process.end_signal,
            "timed_out": process.timed_out,
            "stdout": pack(process.stdout.head),
            "stderr": pack(process.stderr.head),
            "stdout_bytes": process.stdout.total,
            "stderr_bytes": process.stderr.total,
            "truncated": process.stdout.is_cut or process.stderr.is_cut,
            "collected": collected,
            **({"telemetry": telemetry} if telemetry else {}),
            "fault": fault,
            "fault_detail": detail,
        }

    def _collect(self, job: dict[str, Any]) -> tuple[list[Collected], str, str]:
        """Return the files that the job gives back, and the fault with its words if the disk does not answer."""
        names, limit = [str(name) for name in job.get("collect") or ()], int(job["output_limit_bytes"])
        if not names:
            return [], "", ""
        try:
            return Disk().do(lambda: list(self._folder.collect(names, limit)), WITHIN_S), "", ""
        except Hung as error:
            return [], "node-trouble", f"its work folder: {error.strerror}"

    def _note_end(self, outcome: dict[str, Any]) -> None:
        """Keep what came of the job, remove its folder, and only then let its end be told."""
        outcome = {"ended_at": steady.now(), "clock": self._clock.as_json(), **outcome}
        self._spool.set_outcome(self.record, outcome)
        self._try(lambda: self._clearing.remove(self._folder.path))
        self._try(lambda: self._clearing.wait(WITHIN_S, self._folder.path))
        self._spool.settle(self.record, **self._doubts_about(outcome))
        self._changed(self.record)

    def _doubts_about(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """Return the fault of a program that failed while the node's own disk is full, its folder gone or not."""
        has_failed = outcome.get("exit_code") or outcome.get("signal")
        if not has_failed or outcome["fault"] or outcome["timed_out"] or self.stop_asked.is_set():
            return {}
        reason = self._troubles.of_disks()
        return {"fault": "node-trouble", "fault_detail": reason} if reason else {}


def resolve(argv: list[str], config: Config) -> str:
    """Return the path of the program that argv[0] names; CannotStart if it may not be run, or is not installed."""
    if not argv or not config.allows(argv[0]):
        raise CannotStart("not-allowed", f"{argv[0] if argv else 'an empty command'} is not on the allow-list")
    program = config.find(argv[0])
    if program is None:
        raise CannotStart("not-found", f"{argv[0]} is not installed")
    return program


def guard_of(job: dict[str, Any], config: Config, work: Path, placeholders: Placeholders) -> Guard:
    """Return the check of a job's command by the agent's policy and its owner's words."""
    # On a machine of its own, as in a trial of the service, the server and what it measures are the same machine.
    is_local = is_loopback(urlsplit(config.server).hostname or "")
    return Guard(
        work=str(work),
        paths=config.paths,
        options=config.options,
        variables=config.variables,
        wrappers=config.wrappers,
        shells=config.remote_shells,
        reach=Reach(tuple(config.destinations), frozenset(map(str, job.get("inventory") or ())), is_local),
        fill=placeholders.fill,
        find_program=lambda name: resolve([name], config),
        files={str(name): str(text) for name, text in job.get("files") or ()},
        # An older service says no team: then it is this node alone.
        owner=f"{config.server} {job.get('team') or config.node}",
    )


def pack(text: bytes | bytearray) -> str:
    """Return output as it travels: zlib, then base64."""
    return base64.b64encode(zlib.compress(bytes(text), 3)).decode("ascii")


def _compile(pattern: str) -> Automaton | None:
    if not pattern:
        return None
    try:
        return compile_pattern(pattern)
    except BadPattern as problem:
        raise CannotStart("not-started", f"its ready pattern: {problem}") from None
