"""HTTP to the server: one kept-alive connection per user, JSON in and out, and only the server's own answers."""

from __future__ import annotations

import errno
import http.client
import json
import select
import time
import uuid
from typing import Any, cast

from . import VERSION
from .answers import MOST_OF_OTHERS, MOST_OF_POLL, MOST_OF_STRANGERS, Answer, TooMuch, parse
from .config import Config
from .instance import Instance
from .transport import Transport, split_address, watch

# Each request has a name, and the server's answer to it says that name: nobody else's does, nor an earlier answer.
REQUEST, ANSWER = "Fathom-Request", "Fathom-Answer"
# The request whose answer brings jobs.
POLL = "poll"
# The server's own word for being there, but not able to do anything now.
UNAVAILABLE = "unavailable"
# What is answered by one that has nothing against the request itself.
_LATER = (http.client.TOO_MANY_REQUESTS, http.client.SERVICE_UNAVAILABLE)
# How a line ends that had been made. (Of a line that cannot be made an OSError of another kind tells.)
_CUT = (http.client.IncompleteRead, http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
# What is on the way (NAT, a firewall) may forget a connection that is idle for longer (s), and says so to nobody.
MOST_IDLE_S = 15.0
# Whoever is there takes a connection within this time (s), however long an answer may take.
MOST_TO_CONNECT_S = 10.0
# So much (characters) of what another answered is told.
MOST_TOLD = 80


class Away(Exception):
    """The server did not answer, or could do nothing now: try again later; `says_later` if it was said in words."""

    def __init__(self, text: str, *, says_later: bool = False) -> None:
        super().__init__(text)
        self.says_later = says_later


class NotTheServer(Away):
    """Something on the way answered in the server's place."""


class CutOff(Away):
    """The line ended before the answer did: whether the server did what it was asked is not known."""


class Unavailable(Away):
    """The server itself can do nothing for anybody now."""


class Failed(Away):
    """The server itself failed at this request: another may well succeed."""


class Refused(Exception):
    """The server itself refused: `status` is HTTP's, `code` the server's own word, the text its reason.

    `retry_after_s` is when it says to come again at the latest, None if it does not say.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class TooLarge(Refused):
    """The server, or something on the way to it (`is_servers` says which), takes no request of this size."""

    def __init__(self, *, is_servers: bool) -> None:
        text = "The request is larger than the server, or a proxy before it, accepts."
        super().__init__(http.client.REQUEST_ENTITY_TOO_LARGE, "too-large", text)
        self.is_servers = is_servers


class Remote:
    """A connection to the server at `url`; not to be shared between threads."""

    def __init__(
        self, url: str, token: str = "", ca_file: str = "", *, pin: str = "", insecure: bool = False
    ) -> None:
        parts = split_address(url, insecure=insecure)
        self._base = parts.path.rstrip("/") + "/agent/v1/"
        self._token = token
        self._transport = Transport(parts, ca_file, pin)
        self._connection: http.client.HTTPConnection | None = None
        # When its last answer came (monotonic, s).
        self._answered_at = 0.0
        # The process on whose behalf it calls, once there is one.
        self.instance: Instance | None = None

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        """Return the server's answer to a POST of `body` (a GET without one); raises Away or Refused.

        A kept-alive connection that the server has closed meanwhile, or that has vanished, is opened anew, once: each
        request of ours may be repeated without harm. One whose answer only does not come is not repeated.
        """
        data = None if body is None else json.dumps(body).encode()
        reused = self._connection is not None and not self._is_stale()
        try:
            return self._exchange(path, data, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not reused or isinstance(error, TooMuch) or _is_overdue(error):
                raise _away(error) from error
        try:
            return self._exchange(path, data, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _away(error) from error

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_stale(self) -> bool:
        """Say whether a connection was idle too long, or has something to read, its end; close it then."""
        sock = self._connection.sock if self._connection is not None else None
        if sock is None:
            return True
        if time.monotonic() - self._answered_at > MOST_IDLE_S or select.select([sock], [], [], 0)[0]:
            self.close()
            return True
        return False

    def _exchange(self, path: str, data: bytes | None, timeout_s: float) -> dict[str, Any]:
        connection = self._connection
        if connection is None or connection.sock is None:
            connection = self._connection = self._transport.connection(min(timeout_s, MOST_TO_CONNECT_S))
            connection.connect()
            watch(connection.sock)
        connection.sock.settimeout(timeout_s)
        name = self.instance.next_request() if self.instance is not None else uuid.uuid4().hex
        headers = {"User-Agent": f"fathom-agent/{VERSION}", "Accept": "application/json", REQUEST: name}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if self.instance is not None:
            headers["Fathom-Instance"] = self.instance.key
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request("GET" if data is None else "POST", self._base + path, data, headers)
        response = cast("Answer", connection.getresponse())
        # Whose answer it is stands before its body: a stranger's is not read to its end, which may not come.
        if response.getheader(ANSWER) != name:
            text = response.begins(MOST_OF_STRANGERS)
            self.close()
        else:
            text = response.take(MOST_OF_POLL if path == POLL else MOST_OF_OTHERS)
        self._answered_at = time.monotonic()
        if response.will_close:
            self.close()
        return _read(response, text, name)


def remote_of(config: Config) -> Remote:
    """Return a new connection to the server of a configuration."""
    return Remote(config.server, config.token, config.ca_file, pin=config.pin, insecure=config.insecure)


def _read(response: http.client.HTTPResponse, text: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object of the server's own answer to the request of that name."""
    status, is_servers = response.status, response.getheader(ANSWER) == name
    if status == http.client.REQUEST_ENTITY_TOO_LARGE:
        # That something is too large for a proxy is for the proxy to say.
        raise TooLarge(is_servers=is_servers)
    try:
        answer = parse(text)
    except ValueError:
        answer = None
    if not is_servers or not isinstance(answer, dict):
        raise NotTheServer(_who_answered(response, text), says_later=status in _LATER)
    code, detail = str(answer.get("code", "")), str(answer.get("detail", ""))
    if status >= 500:
        kind = Unavailable if code == UNAVAILABLE else Failed
        raise kind(detail or f"the server answered {status}", says_later=status in _LATER)
    if status >= 400:
        later = response.getheader("Retry-After", "")
        raise Refused(status, code, detail, float(later) if later.isdecimal() else None)
    return answer


def _who_answered(response: http.client.HTTPResponse, text: bytes) -> str:
    """Return what is known of an answer that is not the server's."""
    marks = [str(response.status), *(response.getheader(name, "") for name in ("Server", "Via"))]
    excerpt = "".join(
        letter if letter.isprintable() else " " for letter in text.decode("utf-8", "replace")[:MOST_TOLD]
    )
    return f"not the server, but something in its place answered: {' '.join(filter(None, marks))}: {excerpt.strip()}"


def _is_overdue(error: Exception) -> bool:
    """Say whether an answer did not come in time over a connection that has not vanished."""
    is_timeout = isinstance(error, TimeoutError) or "timed out" in str(error)
    return is_timeout and getattr(error, "errno", None) != errno.ETIMEDOUT


def _away(error: Exception) -> Away:
    """Return in words that a line failed, and whether it did so before the answer to a request was whole."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, _CUT):
        return CutOff(f"the line ended before the server's answer did ({words})")
    return Away(words)
