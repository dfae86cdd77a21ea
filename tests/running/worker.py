"""A forked worker: it carries tests out and tells of each."""

import io
import os
import signal
import sys
import traceback
import warnings
from collections import deque
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import pytest

from launch import leash
from tests.running import messages

# pytest's own exit status, too.
INTERRUPTED = 2


def become(session: pytest.Session, connection: Connection, name: str, parent: int) -> NoReturn:
    """Be a worker until there are no more tests, and end: nothing of the parent is torn down here."""
    status = 0
    interruption = Interruption()
    try:
        leash.die_with_parent(parent, signal.SIGINT)
        _prepare(session.config, name)
        _carry_out(session, connection, interruption)
    except (KeyboardInterrupt, EOFError, BrokenPipeError):
        # Whoever hands out the tests is interrupted, or gone.
        status = INTERRUPTED
    except pytest.exit.Exception as error:
        _tell(connection, messages.Stopped(str(error)))
    except BaseException:
        status = 3
        _tell(connection, messages.Broken(traceback.format_exc()))
    finally:
        interruption.is_final = True
        _end(session, status)


class Interruption:
    """The signal that ends a run early: it is heard once, for nothing may keep the fixtures from being torn down."""

    def __init__(self) -> None:
        self.is_final = False
        signal.signal(signal.SIGINT, self._hear)
        signal.signal(signal.SIGTERM, self._hear)

    def _hear(self, _number: int, _frame: object) -> None:
        if not self.is_final:
            self.is_final = True
            raise KeyboardInterrupt


class Recorder:
    """A plugin that keeps what pytest reports until it is told on."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reports: list[dict[str, Any]] = []
        self.warnings: list[messages.RecordedWarning] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.reports.append(data)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        """Keep a warning."""
        self.warnings.append(
            messages.RecordedWarning(
                warning_message.category,
                str(warning_message.message),
                warning_message.filename,
                warning_message.lineno,
                when,
                nodeid,
                location,
            )
        )

    def take(self, index: int) -> messages.Done:
        """Return what was kept of a test, and begin anew."""
        done = messages.Done(index, self.reports, self.warnings)
        self.reports, self.warnings = [], []
        return done


class Queue:
    """The tests that were handed to this worker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tests: deque[int] = deque()

    def take(self) -> int | None:
        """Return the next, once there is one; None if there are no more."""
        while not self._tests:
            tests = self._connection.recv()
            if tests is None:
                return None
            self._tests.extend(tests)
        return self._tests.popleft()


def _prepare(config: pytest.Config, name: str) -> None:
    """Have nothing that would be shared with the parent and with other workers."""
    config.workerinput = {"workerid": name}  # type: ignore[attr-defined]
    capture = config.pluginmanager.get_plugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        # What it writes, the parent's writes.
        reporter._tw._file = io.StringIO()
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / name
    factory._basetemp.mkdir(mode=0o700)
    config.hook.pytest_worker_start(config=config, name=name)


def _carry_out(session: pytest.Session, connection: Connection, interruption: Interruption) -> None:
    recorder = Recorder(session.config)
    session.config.pluginmanager.register(recorder)
    # How many may fail is counted where all are counted.
    session.config.option.maxfail = 0
    queue = Queue(connection)
    index = queue.take()
    while index is not None:
        following = queue.take()
        item = session.items[index]
        nextitem = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        # A test may have taken the interruption for an error of its own.
        if interruption.is_final:
            raise KeyboardInterrupt
        connection.send(recorder.take(index))
        if session.shouldstop:
            connection.send(messages.Stopped(str(session.shouldstop)))
            return
        index = following


def _tell(connection: Connection, message: object) -> None:
    try:
        connection.send(message)
    except OSError:
        traceback.print_exc()


def _end(session: pytest.Session, status: int) -> NoReturn:
    """Tear down what is still set up, and go without what a Python does at its end: that is the parent's."""
    try:
        session._setupstate.teardown_exact(None)
    except BaseException:
        # What was interrupted half-way may not be torn down in full: pytest itself says so of a `tmp_path`.
        if status != INTERRUPTED:
            traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
