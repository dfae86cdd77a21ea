"""HTTP to the server: one kept-alive connection per user, JSON in and out."""

from __future__ import annotations

import http.client
import json
import select
from typing import Any

from . import VERSION
from .config import Config
from .instance import Instance
from .transport import Transport, split_address


class Away(Exception):
    """The server did not answer, or not as itself: try again later."""


class Refused(Exception):
    """The server answered with an error: `status` is HTTP's, `code` the server's own word, the text its reason."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


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
        # The process on whose behalf it calls, once there is one.
        self.instance: Instance | None = None

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        """Return the server's answer to a POST of `body` (a GET without one); raises Away or Refused.

        A kept-alive connection that the server has closed meanwhile is opened anew, once: every request of ours may
        be repeated without harm.
        """
        data = None if body is None else json.dumps(body).encode()
        reused = self._connection is not None and not self._is_stale()
        try:
            return self._exchange(path, data, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not reused or isinstance(error, TimeoutError) or "timed out" in str(error):
                raise Away(_reason(error)) from error
        try:
            return self._exchange(path, data, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Away(_reason(error)) from error

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_stale(self) -> bool:
        """Say whether an idle connection has something to read, which can only be its end; close it then."""
        sock = self._connection.sock if self._connection is not None else None
        if sock is None:
            return True
        if select.select([sock], [], [], 0)[0]:
            self.close()
            return True
        return False

    def _exchange(self, path: str, data: bytes | None, timeout_s: float) -> dict[str, Any]:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._transport.connection(timeout_s)
        connection.timeout = timeout_s
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        headers = {"User-Agent": f"fathom-agent/{VERSION}", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if self.instance is not None:
            headers["Fathom-Instance"] = self.instance.key
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request("GET" if data is None else "POST", self._base + path, data, headers)
        response = connection.getresponse()
        text = response.read()
        if response.will_close:
            self.close()
        return _read(response.status, text)


def remote_of(config: Config) -> Remote:
    """Return a new connection to the server of a configuration."""
    return Remote(config.server, config.token, config.ca_file, pin=config.pin, insecure=config.insecure)


def _read(status: int, text: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer; anything that is not the server's own is Away (a proxy's page, say)."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if status == http.client.REQUEST_ENTITY_TOO_LARGE:
        raise Refused(status, "too-large", "The request is larger than the server, or a proxy before it, accepts.")
    if not isinstance(answer, dict):
        raise Away(f"the server answered {status} without JSON")
    if status >= 500:
        raise Away(str(answer.get("detail") or f"the server answered {status}"))
    if status >= 400:
        raise Refused(status, str(answer.get("code", "")), str(answer.get("detail", "")))
    return answer


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
