"""The agent at work: one thread polls for jobs, one sends reports, one keeps the clock and the facts."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import VERSION, config, jobs, orders, settings, steady
from .admission import OTHER_INSTANCE, UNKNOWN_INSTANCE, Admission
from .backoff import Backoff
from .clock import Clock
from .condition import Condition
from .config_keeper import ConfigKeeper
from .disks import Disk, Errand, Hung
from .identity import find_identity, work_root
from .instance import Instance
from .keeper import Keeper
from .leftovers import Succession
from .lock import Lock
from .past import Past
from .remote import POLL, Away, Refused, Remote, Unavailable, remote_of
from .removal import Clearing
from .reports import Reporter
from .sandbox import OFFSPRING, Confinement
from .spool import Record, Spool
from .telemetry import Sampler
from .troubles import Troubles
from .unsent import Unsent
from .upkeep import Upkeep

logger = logging.getLogger(__name__)

# The server holds a poll for 20 s; an answer that takes this long will not come.
POLL_TIMEOUT_S = 35.0
LEAST_POLL_S = 1.0
HOLD_IN_TROUBLE_S = 2.0
# What a stop of the agent may take: SIGTERM, one second, SIGKILL, and one last report.
CLOSING_S = 5.0


class Agent:
    """All that runs in one agent process; `folder` is its own and holds agent.json, spool and work."""

    def __init__(self, folder: Path, lock: Lock | None = None) -> None:
        self.folder, self.lock = folder, lock
        # Of the agent's folder, which the threads that have to go on do not touch themselves.
        self.disk = Disk()
        self.config = config.load(folder)
        self.identity = find_identity(self.config.user)
        self.work = work_root(folder, self.identity)
        self.confinement = Confinement.find(self.config, self.identity, folder, adopts=OFFSPRING.adopt())
        self.spool = Spool(folder / "spool")
        self.restoration = settings.Restoration(settings.Journals(folder / "settings"))
        self.clock = Clock()
        self.instance = Instance(folder, lock)
        self.clearing = Clearing()
        self.unsent, self.keeper = Unsent(), Keeper(lock, self.disk)
        keepers = (ConfigKeeper(folder, self.disk), self.keeper, self.spool.refused, self.restoration)
        self.troubles = Troubles(self.spool, self.work, self.clock, self.clearing, keepers, self.unsent)
        self.admission = Admission(self.instance)
        self.condition = Condition(folder, self.disk)
        self._loading: Errand[config.Config] = Errand(self.disk)
        self._marking: Errand[None] = Errand(self.disk)
        self.sampler = Sampler() if self.config.telemetry else None
        self.closing = threading.Event()
        # Set before the last jobs are stopped: one that a poll brings after that is stopped as it starts.
        self._ending = threading.Event()
        self._runners: dict[str, jobs.Runner] = {}
        self._past = Past()
        self._lock = threading.Lock()
        self._reporter = Reporter(
            *(self.spool, self.remote, self.closing, self._past.note, self.admission.was_given),
            *(self.troubles.look, self.unsent),
        )
        self.succession = Succession(self.instance, self.spool, self.work, self.clearing, self.restoration)
        self.upkeep = Upkeep(self, lambda: bool(self._running()))

    def remote(self) -> Remote:
        """Return a new connection to the server."""
        remote = remote_of(self.config)
        remote.instance = self.instance
        return remote

    def run(self, wait_for_stop: Callable[[], object]) -> None:
        """Work until `wait_for_stop` returns, then stop the jobs, send what can be sent, and return."""
        if self.instance.is_alone:
            self.succession.complete(self._reporter.changed)
        poll = threading.Thread(target=self._poll_for_ever, name="poll", daemon=True)
        keep = threading.Thread(target=self.upkeep.run, name="keep", daemon=True)
        for thread in (poll, keep, self._reporter):
            thread.start()
        if self.sampler is not None:
            self.sampler.start()
        logger.info("Agent %s of node %s calls %s", VERSION, self.config.node or "?", self.config.server)
        for name in self.config.unused():
            logger.warning("%s is on the allow-list, but starts other programs: it is not used", name)
        wait_for_stop()
        self._close()

    def _close(self) -> None:
        deadline = time.monotonic() + CLOSING_S
        self._ending.set()
        for runner in self._running():
            runner.stop(closing=True)
        for runner in self._running():
            runner.join(max(0.0, deadline - time.monotonic()))
        self._reporter.drain(max(0.5, deadline - time.monotonic()))
        if not self.condition.trouble:
            self.admission.leave(self.remote())
        self.closing.set()
        if self.succession.is_complete and self.work.parent != self.folder:
            # In the temp folder nobody would look for it; what jobs left there stays.
            with contextlib.suppress(OSError):
                Disk().do(self.work.rmdir, 1.0)
        logger.info("Stopped")

    # Polling

    def _poll_for_ever(self) -> None:
        remote, backoff, long_backoff = self.remote(), Backoff(), Backoff(30.0)
        while not self.closing.is_set():
            try:
                self._look_after_place()
                if self.clock.best() is None or self.condition.trouble:
                    # A job may come with a start in server time, and a server that was away may be another machine.
                    self.clock.measure(remote)
                self.admission.ask(remote)
                self.condition.say("")
                self.succession.complete(self._reporter.changed)
                asked_at = time.monotonic()
                answer = remote.call(POLL, self._question(), POLL_TIMEOUT_S)
                self.condition.note_contact()
                self.admission.note_answer(answer)
                if not all(map(self.clock.is_usual_start, orders.starts_in(answer))):
                    # It was set since we measured it, it seems.
                    self.clock.measure(remote)
                if not self._take(answer):
                    # Whatever answers nothing at once is not asked without a pause.
                    self.closing.wait(asked_at + LEAST_POLL_S - time.monotonic())
            except Away as error:
                if isinstance(error, Unavailable):
                    self.condition.note_sign()
                self.condition.say(f"The server is away ({error}); trying again")
                self.closing.wait(backoff.next())
            except Refused as error:
                self.admission.note_refusal(error)
                if error.code == UNKNOWN_INSTANCE:
                    self.closing.wait(backoff.next())
                    continue
                self.condition.say(f"The server refuses this agent: {error}")
                if error.code == OTHER_INSTANCE:
                    self._stop_all()
                self._write_condition()
                # Not later than the server says: the other one may be gone by then.
                self.closing.wait(min(long_backoff.next(), error.retry_after_s or math.inf))
                remote = self._reconfigured(remote)
            except Exception:
                logger.exception("The answer to a poll could not be used")
                self.closing.wait(backoff.next())
            else:
                backoff.reset()
                long_backoff.reset()
                self._write_condition()

    def _write_condition(self) -> None:
        # A process that is not let in writes nothing to the disks of the one that is.
        self.condition.write(len(self._running()), self.troubles.look() if self.succession.is_complete else [])

    def _look_after_place(self) -> None:
        """See that the lock of the folder, and its mark, are where another process would find them."""
        if not self.succession.is_complete:
            return
        if self.keeper.look():
            self.disk.begin(self.instance.mark_place)
            # The server knows the process by its lock, too.
            self.admission.ask_again()
        with contextlib.suppress(Hung):
            self._marking.do(self.instance.keep_mark)

    def _question(self) -> dict[str, Any]:
        records = list(self.spool)
        stopping = {runner.record.job_id for runner in self._running() if runner.stop_asked.is_set()}
        # What has ended, and waits to be reported, needs no stop either.
        stopping |= {record.job_id for record in records if record.is_finished}
        held = [record.job_id for record in records]
        troubles, unsent_s = self.troubles.look(), self.unsent.oldest_s()
        return {
            **{"held": held, "stopping": sorted(stopping), "clock": self.clock.as_json(), "version": VERSION},
            **{"poll": self.instance.next_poll(), "troubles": troubles, "unsent_s": unsent_s},
            # Those whose programs may be there still.
            "running": [record.job_id for record in records if not record.is_finished],
            # What it acknowledged of those, and what it handed out although it is over: it may have forgotten that.
            "told": {record.job_id: record.told for record in records if record.told and not record.is_finished},
            "over": self._past.answers(),
            # What is wrong may be over soon: then it is not told only after a whole poll.
            **({"hold_s": HOLD_IN_TROUBLE_S} if troubles or unsent_s else {}),
        }

    def _stop_all(self) -> None:
        """Stop every job: another process is at work for the node, and what this one measures does not count."""
        for runner in self._running():
            runner.stop()

    def _take(self, answer: dict[str, Any]) -> bool:
        """Start what the server handed out and stop what it wants stopped; say whether that was anything."""
        is_news = False
        self._past.begin_answer()
        for job in orders.jobs_in(answer):
            job_id = orders.id_of(job)
            if not job_id:
                logger.warning("The server handed out something that is no job: %r", job)
            elif job_id not in self.spool and not self._past.passes_over(job_id):
                is_news = True
                self._begin({**job, "id": job_id})
        for job_id in orders.ids_in(answer, "tell"):
            record = self.spool.get(job_id)
            if record is not None:
                self._reporter.changed(record)
        for job_id in orders.ids_in(answer, "stop"):
            with self._lock:
                runner = self._runners.get(job_id)
            if runner is not None:
                logger.info("Job %s is stopped", job_id)
                runner.stop()
                is_news = True
        return is_news

    def _begin(self, job: dict[str, Any]) -> None:
        """Start a job, or say at once why not: whatever is wrong with it, the others of its poll are carried out."""
        if problem := orders.problem_of(job):
            logger.warning("Job %s is refused: %s", job["id"], problem)
            self._hand_back({"id": job["id"]}, "not-started", problem)
            return
        try:
            record = self.spool.accept(job)
        except OSError as error:
            # Not begun: what cannot be put on disk would be lost with the agent.
            logger.warning("Job %s is handed back: the spool cannot be written: %s", job["id"], error.strerror)
            self.troubles.spool.note(error)
            self._hand_back(job, "node-trouble", f"the agent's spool: {error.strerror}")
        else:
            self._start(record)

    def _hand_back(self, job: dict[str, Any], fault: str, detail: str) -> None:
        record = self.spool.hand_back(job, ended_at=steady.now(), fault=fault, fault_detail=detail)
        self._reporter.changed(record)

    def _start(self, record: Record) -> None:
        runner = jobs.Runner(
            record,
            spool=self.spool,
            config=self.config,
            identity=self.identity,
            work=self.work,
            clock=self.clock,
            sampler=self.sampler,
            restoration=self.restoration,
            clearing=self.clearing,
            troubles=self.troubles,
            confinement=self.confinement,
            silence_s=self.condition.silence_s,
            changed=self._changed,
        )
        with self._lock:
            self._runners[record.job_id] = runner
        if self._ending.is_set():
            runner.stop(closing=True)
        runner.start()
        logger.info("Job %s: %s", record.job_id, " ".join(record.job["argv"]))

    def _changed(self, record: Record) -> None:
        if record.is_finished:
            with self._lock:
                self._runners.pop(record.job_id, None)
        self._reporter.changed(record)

    def _running(self) -> list[jobs.Runner]:
        with self._lock:
            return list(self._runners.values())

    def _reconfigured(self, remote: Remote) -> Remote:
        """Look whether the node was enrolled again meanwhile, under a new token."""
        try:
            fresh = self._loading.do(lambda: config.load(self.folder))
        except (config.ConfigError, Hung):
            return remote
        if fresh.token == self.config.token:
            return remote
        self.config = fresh
        remote.close()
        return self.remote()
