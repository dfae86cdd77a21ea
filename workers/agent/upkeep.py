"""The clock and the facts: measured and gathered now and then, in a thread of their own."""

from __future__ import annotations

import http.client
import json
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import VERSION, facts
from .backoff import Backoff
from .remote import Away, Refused, Remote

if TYPE_CHECKING:
    from .agent import Agent

logger = logging.getLogger(__name__)

CLOCK_EVERY_S = 60.0
LOOK_AT_FACTS_EVERY_S = 60.0
SEND_FACTS_EVERY_S = 300.0
LOOK_IF_ADMITTED_S = 0.5


class Upkeep:
    """Keeps an agent's clock measured, and its server told of the node."""

    def __init__(self, agent: Agent, is_busy: Callable[[], bool]) -> None:
        self._agent, self._is_busy = agent, is_busy
        self._clock_due, self._facts_due = time.monotonic() + CLOCK_EVERY_S, 0.0
        # The facts as they were sent last, and when (monotonic, s).
        self._sent: str | None = None
        self._sent_at = 0.0

    def run(self) -> None:
        """Work until the agent closes."""
        agent, remote, backoff = self._agent, self._agent.remote(), Backoff(10.0)
        collector = facts.Collector(agent.identity, agent.confinement)
        while not agent.closing.is_set():
            if not agent.admission.is_given.wait(LOOK_IF_ADMITTED_S):
                continue
            try:
                self._do_what_is_due(remote, collector)
            except (Away, Refused) as error:
                # The polling thread says it if the server is away, or refuses the agent as a whole.
                if isinstance(error, Refused) and error.status not in (
                    http.client.UNAUTHORIZED,
                    http.client.CONFLICT,
                ):
                    logger.warning("The server refuses the clock's question or the facts: %s", error)
                agent.closing.wait(backoff.next())
                remote.close()
                remote = agent.remote()
            except Exception:
                logger.exception("The facts could not be gathered")
                agent.closing.wait(backoff.next())
            else:
                backoff.reset()
                agent.closing.wait(max(0.1, min(self._clock_due, self._facts_due) - time.monotonic()))

    def _do_what_is_due(self, remote: Remote, collector: facts.Collector) -> None:
        now, agent = time.monotonic(), self._agent
        if now >= self._clock_due:
            agent.clock.measure(remote)
            self._clock_due = now + CLOCK_EVERY_S
        # What is being measured is not to be disturbed.
        if now < self._facts_due or (self._sent and self._is_busy()):
            return
        gathered = collector.collect(agent.config.allowed(), agent.config.settings)
        text = json.dumps(gathered, sort_keys=True)
        if text != self._sent or now >= self._sent_at + SEND_FACTS_EVERY_S:
            remote.call("facts", {"facts": gathered, "version": VERSION})
            self._sent, self._sent_at = text, now
        self._facts_due = now + LOOK_AT_FACTS_EVERY_S
