"""A small client of Fathom's own REST interface, for the demo: what it does, any client can do."""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from launch.supervisor import Stopped

Json = dict[str, Any]
# So long (s) before it is asked again.
AGAIN_S = 2.0


class RestError(RuntimeError):
    """A refusal of the service, or no answer; the text holds the method, the address and what it said.

    `status` is HTTP's, None without an answer.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class Rest:
    """Calls below `base` (such as http://127.0.0.1:8000) with a bearer token.

    What is answered with 503, and a reading that is not answered at all, is asked again for `patience_s`; a writing,
    too, that can be found. `report` is told once of each. Nothing is asked once the service `is_over`: Stopped.
    """

    def __init__(
        self,
        base: str,
        token: str,
        *,
        patience_s: float = 0.0,
        report: Callable[[str], None] = lambda _words: None,
        is_over: Callable[[], bool] = bool,
    ) -> None:
        self.base = base.rstrip("/")
        self.token = token
        self._patience_s, self._report, self._is_over = patience_s, report, is_over

    def get(self, path: str) -> Any:
        """Return the JSON of an address below /api/v1/."""
        return self.call("GET", path)

    def post(self, path: str, body: Json | None = None, *, find: Callable[[], Any] | None = None) -> Any:
        """Send JSON and return the answer's.

        Where the answer is lost, `find` returns what was made, or None: then it is sent again.
        """
        return self.call("POST", path, body or {}, find=find)

    def every(self, path: str) -> Iterator[Json]:
        """Yield the rows of all pages of a list."""
        separator = "&" if "?" in path else "?"
        page = 1
        while True:
            answer = self.get(f"{path}{separator}page_size=500&page={page}")
            yield from answer["results"]
            if not answer["next"]:
                return
            page += 1

    def call(self, method: str, path: str, body: Json | None = None, *, find: Callable[[], Any] | None = None) -> Any:
        """Make one request, again if need be (`find` as in `post`); RestError for anything but success.

        Stopped if it is over by then, or before the next.
        """
        deadline = time.monotonic() + self._patience_s
        is_told = False
        while not self._is_over():
            try:
                return self._call(method, path, body)
            except RestError as error:
                if self._is_over():
                    break
                # Whether what 504 answers was carried out is not known either.
                is_unanswered = error.status in (None, http.client.GATEWAY_TIMEOUT)
                is_unanswered = is_unanswered and (method == "GET" or find is not None)
                is_away = is_unanswered or error.status == http.client.SERVICE_UNAVAILABLE
                if not is_away or time.monotonic() >= deadline:
                    raise
                if not is_told:
                    self._report(f"asking again, for {self._patience_s:g} s at most: {error}")
                is_told = True
                time.sleep(AGAIN_S)
                if is_unanswered and find and (answer := find()) is not None:
                    return answer
        raise Stopped

    def _call(self, method: str, path: str, body: Json | None) -> Any:
        request = urllib.request.Request(  # noqa: S310
            f"{self.base}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                text = answer.read()
        except urllib.error.HTTPError as error:
            body_text = error.read().decode(errors="replace")[:2000]
            raise RestError(f"{method} {path}: {error.code} {body_text}", error.code) from error
        except (OSError, http.client.HTTPException) as error:
            raise RestError(f"{method} {path}: {error}") from error
        return json.loads(text) if text else None


def act(api: Rest, path: str, what: str, is_done: Callable[[Json], Any]) -> Json:
    """Have something done to the row at a path, such as a launch, once; return what is answered, or the row."""

    def find() -> Json | None:
        row: Json = api.get(path)
        return row if is_done(row) else None

    answer: Json = api.post(f"{path}{what}/", find=find)
    return answer
