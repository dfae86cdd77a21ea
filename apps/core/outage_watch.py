"""Look at a server that seems to be away until it is back: one line in the log when that begins, one when it ends."""

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from apps.core import clock

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
# Of what was logged before the first look was over, so many records are kept.
_MOST_KEPT = 100


class Outage(Exception):
    """The server is known to be away: nothing was asked of it."""


class Watch:
    """What one process knows of one server, called `name` in the log.

    `concerns(error)` says whether an error may mean that it is away; `trouble()` looks at it and returns what is the
    matter, None if nothing is; `renew()` is called when it is back.
    """

    def __init__(
        self,
        name: str,
        *,
        concerns: Callable[[BaseException], bool],
        trouble: Callable[[], str | None],
        renew: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.concerns = concerns
        self._trouble = trouble
        self._renew = renew
        self._forget()
        # Its thread is not in the child of a fork, which has to look by itself.
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._is_looking = False
        self._away: clock.Since | None = None
        self._words = ""
        self._kept: list[logging.LogRecord] = []
        self._left_out = 0

    @property
    def away_since(self) -> datetime | None:
        """Return since when the server is known to be away, or to refuse; None while it is not."""
        return None if self._away is None else self._away.at()

    @property
    def words(self) -> str:
        """Return what is the matter, in the server's words; empty while nothing is known to be."""
        return self._words if self._away is not None else ""

    def note(self, error: BaseException) -> None:
        """Look at the server in a thread of its own, once at a time, if an error may mean that it is away."""
        if self.concerns(error):
            self._begin()

    def refuse(self) -> None:
        """Raise Outage if the server is known to be away, so that nobody waits for it."""
        if self._away is not None:
            raise Outage(f"{self.name} is away.")

    def begin(self, words: str) -> datetime:
        """Note what a look has found to be the matter, and return since when it is."""
        with self._lock:
            if self._away is None:
                self._away, self._words = clock.Since(), words
                logger.warning("%s does not work: %s", self.name, words)
            since = self._away.at()
        self._begin()
        return since

    def takes(self, record: logging.LogRecord) -> bool:
        """Return whether a record that tells of the outage is to be left out of the log; look if none is known.

        What comes before the first look is over is kept and logged as it is if the server turns out to be there.
        """
        if not self._begin():
            return False
        with self._lock:
            if self._away is None and self._is_looking and len(self._kept) < _MOST_KEPT:
                self._kept.append(record)
            else:
                self._left_out += 1
        return True

    def _begin(self) -> bool:
        with self._lock:
            if self._is_looking:
                return True
            self._is_looking = True
        try:
            threading.Thread(target=self._look, name=f"outage of {self.name}", daemon=True).start()
        except RuntimeError:
            # The process ends.
            self._is_looking = False
        return self._is_looking

    def _look(self) -> None:
        begun = time.monotonic()
        try:
            while (words := self._trouble()) is not None:
                self._note_away(words)
                time.sleep(LOOK_EVERY_S)
            self._renew()
        except Exception:
            logger.exception("%s could not be looked at", self.name)
        finally:
            self._end(time.monotonic() - begun)

    def _note_away(self, words: str) -> None:
        with self._lock:
            is_new, self._words = self._away is None or words != self._words, words
            self._away = self._away or clock.Since()
            self._left_out += len(self._kept)
            self._kept = []
        if is_new:
            logger.warning("%s does not work: %s", self.name, words)

    def _end(self, lasted_s: float) -> None:
        with self._lock:
            records, self._kept = self._kept, []
            since, self._away = self._away, None
            left_out, self._left_out = self._left_out, 0
            self._is_looking = False
        if since is not None:
            text = "%s works again after %.1f s (since %s); lines of it left out of this log: %s"
            logger.warning(text, self.name, lasted_s, since.at(), left_out)
        for record in records:
            record.is_no_outage = True
            logging.getLogger(record.name).handle(record)


def error_of(record: logging.LogRecord) -> BaseException | None:
    """Return the error that a record of the log tells of, None if it tells of none."""
    if record.exc_info and record.exc_info[1] is not None:
        return record.exc_info[1]
    values: Any = record.args.values() if isinstance(record.args, dict) else record.args or ()
    return next((value for value in values if isinstance(value, BaseException)), None)
