"""Being let in: the server has one process at a time work for a node, and this one asks before it does anything."""

from __future__ import annotations

import contextlib
import http.client
import logging
import threading
from typing import Any

from .instance import Instance
from .remote import Away, Refused, Remote

logger = logging.getLogger(__name__)

LEAVE_TIMEOUT_S = 1.0
# The server's words for why it refuses a process: another is at work, or it has to introduce itself first.
OTHER_INSTANCE, UNKNOWN_INSTANCE = "other-instance", "unknown-instance"


class Admission:
    """Whether this process is let in (`is_given`), or was before another took its place (`was_given`).

    Until it was it does nothing and reports nothing; what it took while it was let in is its own to report.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.is_given, self.was_given = threading.Event(), threading.Event()

    def ask(self, remote: Remote) -> None:
        """Have the server let this process in, unless it has; raises what Remote.call raises."""
        if self.is_given.is_set():
            return
        remote.call("hello", self.instance.introduction())
        self.is_given.set()
        self.was_given.set()

    def ask_again(self) -> None:
        """Have this process introduce itself once more, for something of what it said has changed."""
        self.is_given.clear()

    def note_answer(self, answer: dict[str, Any]) -> None:
        """Look whether the answer to a poll tells that another process goes on with this one's number."""
        if answer.get("repeated") and self.instance.note_repeated():
            logger.warning("The server hears another process under this one's number: it takes a new one")
            self.is_given.clear()

    def note_refusal(self, error: Refused) -> None:
        """Take in that the server refuses a poll."""
        if error.status == http.client.CONFLICT:
            self.is_given.clear()

    def leave(self, remote: Remote) -> None:
        """Tell the server that this process ends, so that another need not wait for its silence."""
        if self.is_given.is_set():
            with contextlib.suppress(Away, Refused):
                remote.call("leave", {}, LEAVE_TIMEOUT_S)
