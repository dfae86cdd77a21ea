"""Requests that change something, and who was let in or given rights: lines for whoever looks back later."""

import logging
import sys
import time
import weakref
from collections.abc import Callable
from datetime import datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.encoding import escape_uri_path
from django.utils.functional import empty

from apps.core import root_files

logger = logging.getLogger(__name__)
events = logging.getLogger("fathom.audit")
changes = logging.getLogger("fathom.access")
_READING = ("GET", "HEAD", "OPTIONS", "TRACE")
# Those of this process, for whoever asks how they are.
_files: "weakref.WeakSet[LogFile]" = weakref.WeakSet()
_MOST_BYTES = 50 * 1024 * 1024
# Signs of an address: none of ours is as long, and anybody may ask for one of many thousands.
_LONGEST_PATH = 300


class LogFile(WatchedFileHandler):
    """A file of lines that several processes write to; it is set aside as NAME.1 when it is long."""

    def __init__(self, filename: str) -> None:
        # Settings are read by commands, too, which have nothing to write.
        super().__init__(filename, delay=True, encoding="utf-8")
        self._is_told = self._was_refused = False
        # Since when lines are left out of it, None while they are not.
        self.failing_since: datetime | None = None
        _files.add(self)

    def look(self) -> datetime | None:
        """Return since when lines are left out, None if none is; while they are, a line that says so is tried."""
        since = self.failing_since
        if since is not None:
            text = f"lines are left out here since {since:%Y-%m-%d %H:%M:%S %Z}"
            self.handle(logging.LogRecord(events.name, logging.WARNING, "", 0, text, None, None))
        return self.failing_since

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            path = Path(self.baseFilename)
            root_files.make_folder(path.parent)
            if path.exists() and path.stat().st_size > _MOST_BYTES:
                root_files.set_aside(path)
            self._was_refused = False
            super().emit(record)
            self.failing_since = (self.failing_since or timezone.now()) if self._was_refused else None
        except OSError as error:
            self.failing_since = self.failing_since or timezone.now()
            if not self._is_told:
                self._is_told = True
                logger.error("Lines are left out of %s: %s", self.baseFilename, error.strerror)

    def _open(self) -> TextIOWrapper:
        stream = open(self.baseFilename, "a", encoding=self.encoding, opener=root_files.opener)  # noqa: SIM115
        self._is_told = False
        return stream

    def handleError(self, record: logging.LogRecord) -> None:
        """Do without a line that the disk does not take: what is answered does not depend on it."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)
        self._was_refused = True


def unwritten() -> dict[str, datetime]:
    """Return {name of a file: since when} of those that this process leaves lines out of."""
    named = sorted((Path(file.baseFilename).name, file.look()) for file in list(_files) if file.failing_since)
    return {name: since for name, since in named if since is not None}


class AccessMiddleware:
    """Writes one line for each request that may change something, once it is answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        if request.method in _READING:
            return self.get_response(request)
        begun = time.monotonic()
        response = self.get_response(request)
        took_ms = round((time.monotonic() - begun) * 1000)
        user, token = _user_of(request), getattr(getattr(request, "auth", None), "pk", None) or "-"
        changes.info(
            "%s %s %s %s ms user=%s token=%s address=%s",
            request.method,
            escape_uri_path(request.path)[:_LONGEST_PATH],
            response.status_code,
            took_ms,
            user,
            token,
            request.META.get("REMOTE_ADDR") or "-",
            extra={"status_code": response.status_code, "about": user},
        )
        return response


def note(event: str, **values: object) -> None:
    """Write a line on something that concerns who may do what, once it is committed."""
    words = [event, *(f"{name}={_plain(value)}" for name, value in values.items())]
    transaction.on_commit(lambda: events.info("%s", " ".join(words)), robust=True)


def _user_of(request: HttpRequest) -> str:
    """Return the name of whoever asked, as far as answering has found it out: nothing is asked of the database."""
    user: Any = getattr(request, "user", None)
    if user is None or getattr(user, "_wrapped", None) is empty:
        return "-"
    return _plain(user.get_username()) if user.is_authenticated else "-"


def _plain(value: object) -> str:
    """Return a value as one word of one line, whatever somebody has called it."""
    text = str(value)
    return text if text.isidentifier() or text.isalnum() else ascii(text)
