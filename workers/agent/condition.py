"""How the agent does, in its log and in the file that the command `status` reads."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

from . import VERSION
from .disks import Disk, Errand

logger = logging.getLogger(__name__)

FILE = "status.json"


class Condition:
    """What is wrong between this agent and its server, and when that answered last."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self.trouble = ""
        self._writing: Errand[None] = Errand(disk)
        self._folder = folder
        self._contact_at, self._heard_at = 0.0, time.monotonic()
        self._can_write = True

    def say(self, text: str) -> None:
        """Log a trouble with the server once, and its end ("") once."""
        if text and text != self.trouble:
            logger.warning(text)
        elif not text and self.trouble:
            logger.info("The server is back")
        self.trouble = text

    def note_contact(self) -> None:
        """Note that the server answered."""
        self._contact_at = time.time()
        self.note_sign()

    def note_sign(self) -> None:
        """Note that the server was heard, if only to say that it can do nothing now."""
        self._heard_at = time.monotonic()

    def silence_s(self) -> float:
        """Return how long the server has not been heard."""
        return time.monotonic() - self._heard_at

    def write(self, running: int, troubles: list[dict[str, str]]) -> None:
        """Write all that down; `running` is how many jobs are under way."""
        status: dict[str, Any] = {"running": running, "version": VERSION}
        status |= {"contact": self._contact_at, "refused": self.trouble, "troubles": troubles}
        text = json.dumps(status)
        temporary = self._folder / (FILE + ".new")

        def write() -> None:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self._folder / FILE)

        try:
            self._writing.do(write)
        except OSError as error:
            if self._can_write:
                logger.warning("The status cannot be written: %s", error.strerror)
            self._can_write = False
        else:
            self._can_write = True


def read(folder: Path) -> dict[str, Any]:
    """Return what was written last, {} if nothing was."""
    try:
        condition = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return condition if isinstance(condition, dict) else {}


def lines(status: dict[str, Any]) -> list[str]:
    """Return, for the command `status`, what is wrong."""
    refused = [f"trouble   {status['refused']}"] if status.get("refused") else []
    own = [f"trouble   {trouble['code']}: {trouble['detail']}" for trouble in status.get("troubles") or ()]
    return refused + own
