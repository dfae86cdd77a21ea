"""The process that collected: it forks the workers, hands the tests out, and tells pytest what came of each."""

import contextlib
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait

import pytest

from tests.running import messages, worker
from tests.running.units import Units, group_of

# A worker runs a test only when it knows the next one, whose fixtures may be the same.
AHEAD = 2
# So long a worker may take to tear down what its tests have set up, before it is killed (s).
TEARDOWN_S = 60.0
_LOOK_S = 1.0


class WorkerError(Exception):
    """Something broke in a worker outside of any test; the text is its traceback."""


@dataclass(eq=False)
class Worker:
    """A forked process and the tests that were handed to it, of which the first is under way."""

    name: str
    pid: int
    connection: Connection
    pending: deque[int] = field(default_factory=deque)
    is_told_of_the_end: bool = False
    exit_status: int | None = None

    def has_ended(self) -> bool:
        """Say whether the process is over, and keep how it ended."""
        if self.exit_status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_status = os.waitstatus_to_exitcode(status)
        return self.exit_status is not None

    def how_it_ended(self) -> str:
        """Return how the process ended, in words."""
        status = self.exit_status or 0
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


class Controller:
    """The workers of a run and what they have still to do."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self.session = session
        self.count = count
        self.units = Units([group_of(item) for item in session.items])
        self.workers: list[Worker] = []
        self._started = 0

    def run(self) -> None:
        """Have all tests carried out; whatever ends this early, no worker is left."""
        # The workers' temporary folders are in this one.
        self.session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        with _ended_by_sigterm(), self._none_left():
            for _number in range(min(self.count, len(self.units))):
                self._start()
            # The first tests are the longest: none may wait behind another.
            for ahead in range(1, AHEAD + 1):
                for each in self.workers:
                    self._feed(each, ahead)
            while self.workers:
                self._attend()
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
                if self.session.shouldstop:
                    raise self.session.Interrupted(self.session.shouldstop)

    def _start(self) -> None:
        """Fork a worker."""
        ours, theirs = Pipe()
        name = f"gw{self._started}"
        self._started += 1
        # What a process has not written yet, its copy would write, too.
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            for other in self.workers:
                other.connection.close()
            ours.close()
            worker.become(self.session, theirs, name, parent)
        theirs.close()
        self.workers.append(Worker(name, pid, ours))

    def _feed(self, to: Worker, ahead: int = AHEAD) -> None:
        """Keep a worker in tests, or tell it that there are no more."""
        while self.units and len(to.pending) < ahead:
            unit = self.units.take()
            to.pending.extend(unit)
            self._tell(to, unit)
        if not self.units and not to.is_told_of_the_end:
            to.is_told_of_the_end = True
            self._tell(to, None)

    def _tell(self, to: Worker, tests: list[int] | None) -> None:
        # One that is dead is seen at the next look.
        with contextlib.suppress(BrokenPipeError):
            to.connection.send(tests)

    def _attend(self) -> None:
        """Take what the workers say; see which of them have died."""
        ready = wait([each.connection for each in self.workers], _LOOK_S)
        for each in [each for each in self.workers if each.connection in ready]:
            try:
                message = each.connection.recv()
            except (EOFError, ConnectionResetError):
                self._bury(each)
            else:
                self._take(each, message)
        # What a test has forked may hold a dead worker's end of the connection.
        for each in list(self.workers):
            if each.has_ended() and not each.connection.poll():
                self._bury(each)

    def _take(self, sender: Worker, message: object) -> None:
        match message:
            case messages.Done():
                sender.pending.remove(message.index)
                self._report(message)
                self._feed(sender)
            case messages.Stopped():
                self.session.shouldstop = message.reason
            case messages.Broken():
                raise WorkerError(f"worker {sender.name}\n{message.traceback}")

    def _report(self, done: messages.Done) -> None:
        """Tell pytest of a test as if it had been carried out here."""
        config, item = self.session.config, self.session.items[done.index]
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in done.reports:
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            item.ihook.pytest_runtest_logreport(report=report)
        for warning in done.warnings:
            config.hook.pytest_warning_recorded.call_historic(kwargs=warning.as_pytest_has_it())
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, dead: Worker) -> None:
        """Tell of the test that a worker died with; have another take on what it left."""
        self.workers.remove(dead)
        dead.connection.close()
        while not dead.has_ended():
            time.sleep(0.01)
        if dead.pending:
            self._report_crash(dead.pending.popleft(), dead)
            self.units.give_back(dead.pending)
        if self.units:
            self._start()
            self._feed(self.workers[-1])

    def _report_crash(self, index: int, dead: Worker) -> None:
        config, item = self.session.config, self.session.items[index]
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="failed",
            longrepr=f"The worker {dead.name} died with this test: {dead.how_it_ended()}.",
            when="call",
        )
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._report(messages.Done(index, [data], []))

    @contextlib.contextmanager
    def _none_left(self) -> Iterator[None]:
        """Interrupt the workers that are left at the end, and kill those that take too long to tear down."""
        try:
            yield
        finally:
            try:
                self._interrupt()
            finally:
                for each in self.workers:
                    if not each.has_ended():
                        os.kill(each.pid, signal.SIGKILL)
                        os.waitpid(each.pid, 0)

    def _interrupt(self) -> None:
        for each in self.workers:
            if not each.has_ended():
                os.kill(each.pid, signal.SIGINT)
        deadline = time.monotonic() + TEARDOWN_S
        while not all(each.has_ended() for each in self.workers) and time.monotonic() < deadline:
            time.sleep(0.05)


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end the run as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
