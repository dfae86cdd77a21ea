"""One child process as data (what to run, when it is ready, how to stop it), and the running child."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from launch import claims, leash, liveness, orphans, owners

_LEASH = Path(leash.__file__).resolve()
_LOG_LIMIT_BYTES = 10 * 1024 * 1024
_CHUNK = 1024 * 1024
_END_BYTES = 8192
_POLL_S = 0.05


# What starts and uses the processor all the while has so many times its time: on a busy machine it gets little of it.
MOST_PATIENCE = 8
# How often it is told that something which runs once is still at work (s).
TOLD_EVERY_S = 60.0


class ProcessError(RuntimeError):
    """A process that ended, or did not become ready; the text holds the end of its log."""


class SlowStartError(ProcessError):
    """One that lives, and was not ready within its time."""


class EndedBySignalError(ProcessError):
    """One that a signal ended before it was ready: it has not refused to start."""


class AwayError(ProcessError):
    """One that runs once, and says that what it needs is away for now."""


@dataclass(frozen=True)
class Process:
    """What to run.

    `env` is added to the environment. `ready` says whether the process answers (None: at once). `sign` says whether
    it gave a sign of life since it was asked last (None: it is not asked); one that gives none for `hang_after_s` has
    come to a halt. `tier` orders the end: the highest stops first, those of one tier together. `death_signal` is what
    it gets if the supervisor is killed. `fds` are passed on. `identity` is one of `launch.leash`. With `once` it is
    ready when it has ended well, however long that takes: a migration that is ended on its way never gets done.
    `workplace` is the folder in which what it starts works, wherever it has gone: PostgreSQL's leave its group.
    `waits` is the file in which it says what it waits for before it begins; there is none while it waits for nothing.
    `leaves` are files with its number that it leaves there when it is killed, and would not start with. `mend` puts
    right what may keep it from starting and returns that in words, empty if there is nothing. `prepare` is called
    before each start, for what it cannot do without and others may have cleared away. `writes_in` are the folders
    without room in which it ends, beside that of its log: each may be a disk of its own.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    ready: Callable[[], bool] | None = None
    ready_timeout_s: float = 60.0
    sign: Callable[[], bool] | None = None
    hang_after_s: float = 30.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 10.0
    death_signal: signal.Signals = signal.SIGTERM
    identity: str = leash.SAME
    tier: int = 0
    fds: tuple[int, ...] = ()
    once: bool = False
    workplace: Path | None = None
    waits: Path | None = None
    leaves: tuple[Path, ...] = ()
    mend: Callable[[], str] | None = None
    prepare: Callable[[], object] | None = None
    writes_in: tuple[Path, ...] = ()


class Child:
    """A running process, in a session of its own, so that Ctrl-C in the terminal does not reach it."""

    def __init__(self, process: Process, *, log: Path) -> None:
        """Start it; it appends what it prints to `log`."""
        self.process = process
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            self._trim()
        # What a supervisor that was killed left there.
        self._clear_workplace()
        if process.prepare is not None:
            process.prepare()
        hold = (
            sys.executable,
            "-S",
            "-E",
            str(_LEASH),
            str(os.getpid()),
            process.death_signal.name,
            process.identity,
        )
        how = os.O_RDWR | os.O_CREAT | os.O_APPEND
        descriptor = owners.open_in(log.parent, log.name, how, 0o666)
        # What is printed can be read here, too, once the file's name was cleared away.
        self._printed = os.dup(descriptor)
        weakref.finalize(self, os.close, self._printed)
        # How much of that is in the file which has the name since; None while it is the same.
        self._copied: int | None = None
        with os.fdopen(descriptor, "ab") as sink, self._claim() as claim, owners.LOCK:
            self.started_at = time.monotonic()
            # How long it was at the last look, too.
            self._start_of_log = self._seen = sink.tell()
            self.popen = subprocess.Popen(
                hold + process.argv,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, **process.env},
                cwd=process.cwd,
                start_new_session=True,
                pass_fds=process.fds + claim,
            )

    @property
    def pid(self) -> int:
        """Return the process's number, which is its session's and group's too."""
        return self.popen.pid

    @property
    def alive(self) -> bool:
        """Say whether it runs."""
        return self.popen.poll() is None

    def wait_ready(
        self,
        *,
        timeout_s: float | None = None,
        given_up: Callable[[], bool] = lambda: False,
        tell: Callable[[str], object] = lambda _text: None,
    ) -> None:
        """Wait until it is ready; ProcessError if it ends, takes too long, or `given_up` says to stop waiting.

        While it uses the processor it has longer, up to MOST_PATIENCE times as long. What runs once takes as long as
        it takes: `tell` is given a line about that every minute.
        """
        limit_s = timeout_s or self.process.ready_timeout_s
        begun = told_at = time.monotonic()
        efforts = liveness.Efforts(self.pid)
        while True:
            if not self.alive:
                if self.process.once and self.popen.returncode == 0:
                    return
                kind = EndedBySignalError if self._was_ended else ProcessError
                if self.process.once and self.popen.returncode == os.EX_TEMPFAIL:
                    kind = AwayError
                raise kind(f"{self.process.name} ended: {self.how_it_ended()}.{self.end_of_log()}")
            if not self.process.once and (self.process.ready is None or self.process.ready()):
                return
            if given_up():
                raise ProcessError(f"{self.process.name} was stopped before it was ready.")
            now = time.monotonic()
            if self.process.once:
                if now - told_at >= TOLD_EVERY_S:
                    told_at = now
                    tell(f"at work for {(now - begun) / 60:.0f} min, see {self.log}")
            elif efforts.idle_s() > limit_s or now - begun > MOST_PATIENCE * limit_s:
                words = f"{self.process.name} did not become ready within {limit_s:.0f} s."
                raise SlowStartError(f"{words}{self.end_of_log()}")
            time.sleep(_POLL_S)

    def trim_log(self) -> None:
        """Set the log aside once it has grown to 10 MiB; the process goes on at the start of the emptied file.

        Where the log was cleared away or moved, what the process prints since is put into a new one.
        """
        self._keep_log()
        self._trim()

    def _keep_log(self) -> None:
        printed = os.fstat(self._printed)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(printed, self.log.stat()):
                self._seen, self._copied = printed.st_size, None
                return
        if self._copied is None:
            # One that was moved has what was printed until then, and somebody keeps it.
            self._copied = min(self._seen, printed.st_size) if printed.st_nlink else self._start_of_log
            self._start_of_log = 0
        self.log.parent.mkdir(parents=True, exist_ok=True)
        how = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(owners.open_in(self.log.parent, self.log.name, how, 0o666), "ab") as log:
            while chunk := os.pread(self._printed, _CHUNK, self._copied):
                log.write(chunk)
                self._copied += len(chunk)
        if self._copied > _LOG_LIMIT_BYTES and not printed.st_nlink:
            os.ftruncate(self._printed, 0)
            self._copied = 0

    def _trim(self) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT_BYTES:
            folder, aside = self.log.parent, self.log.with_suffix(".log.1").name
            how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with (
                os.fdopen(owners.open_in(folder, self.log.name, os.O_RDWR), "r+b") as log,
                os.fdopen(owners.open_in(folder, aside, how, 0o666), "wb") as copy,
            ):
                shutil.copyfileobj(log, copy)
                log.truncate(0)
            self._start_of_log = 0

    def ask_to_stop(self) -> None:
        """Send the stop signal, to the process alone: it looks after its own children."""
        if self.alive:
            self.popen.send_signal(self.process.stop_signal)

    def finish(self, *, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds) for it to end, then kill what is left of its group."""
        try:
            self.popen.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self.kill_group()

    def stop(self) -> None:
        """Stop it and wait: the stop signal, and SIGKILL when its time is over."""
        self.ask_to_stop()
        self.finish(deadline=time.monotonic() + self.process.stop_timeout_s)

    def kill_group(self) -> None:
        """Kill what a process that has ended left in its group, or at work in its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._clear_workplace()

    def _claim(self) -> contextlib.AbstractContextManager[tuple[int, ...]]:
        place = self.process.workplace
        if place is None:
            return contextlib.nullcontext(())
        return claims.claimed(place.with_name(f"{place.name}.lock"), self.process.leaves)

    def _clear_workplace(self) -> None:
        """Kill what is at work in its folder without it, and holds what its start needs."""
        if self.process.workplace is not None:
            orphans.kill(orphans.at_work_in(self.process.workplace.resolve(), Path(self.process.argv[0]).name))

    def kill(self) -> None:
        """Kill it and what it has started, as what has come to a halt hears no other signal."""
        self.popen.kill()
        self.kill_group()

    def mend(self) -> str:
        """Put right what may have kept it from starting, if it refused to; return that in words, empty if nothing."""
        if self.process.mend is None or self.alive or self._was_ended:
            return ""
        return self.process.mend()

    @property
    def _was_ended(self) -> bool:
        """Say whether somebody ended it: servers that are asked to leave do so with status 0."""
        status = self.popen.returncode
        return status is not None and (status < 0 or (status == 0 and not self.process.once))

    def how_it_ended(self) -> str:
        """Return how it ended, in words."""
        status = self.popen.returncode
        if status is not None and status < 0:
            return f"killed by {signal.Signals(-status).name}"
        return f"exit status {status}"

    def end_of_log(self, lines: int = 15) -> str:
        """Return the last lines that this run printed, as a paragraph that names the file; empty if none."""
        with contextlib.suppress(OSError):
            self._keep_log()
        try:
            with self.log.open("rb") as log:
                log.seek(max(self._start_of_log, log.seek(0, os.SEEK_END) - _END_BYTES))
                end = log.read()
        except OSError:
            # What is printed is there all the same.
            first = self._start_of_log if self._copied is None else self._copied
            size = os.fstat(self._printed).st_size
            end = os.pread(self._printed, _END_BYTES, max(first, size - _END_BYTES))
        text = end.decode(errors="replace").strip()
        if not text:
            return ""
        return f" The end of {self.log}:\n" + "\n".join(f"    {line}" for line in text.splitlines()[-lines:])
