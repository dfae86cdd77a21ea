"""Long work beside the measurements, asked for again and again while faults strike: none of it may fail for them."""

import json
import secrets
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from launch.demo.rest import RestError
from tests.faults import measuring
from tests.faults.site import Site, patiently
from tests.faults.verdict import LOST, STUCK, Finding
from tests.launch.watching import wait_for

# Each piece of work takes seconds; so long where faults hold it up (s).
WITHIN_S = 240.0
_FILE = b"no output of any tool"


class LongWork:
    """A report's file, an import and an analysis, over a campaign that ended before the first fault."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._campaign = measuring.launch_small(site.api, site.nodes)
        if not wait_for(lambda: self._analysis() == "done", WITHIN_S):
            raise TimeoutError(f"the campaign of the long work stands at {self._analysis()}")
        # The verdict is on the campaign that the faults hit.
        site.tally.begin_anew()
        permanent_id = site.ask(f"campaigns/{self._campaign}/")["permanent_id"]
        self._report = site.api.post("reports/", {"campaign": permanent_id})["id"]

    def carry_on(self, is_over: Callable[[], bool]) -> Iterator[Finding]:
        """Ask for all of it until the faults are over, once more then, and yield what did not end well."""
        was_over = False
        while not was_over:
            was_over = is_over()
            rendering, imported = self._ask()
            states: dict[str, str] = {}

            def is_done(
                rendering: int = rendering, imported: int = imported, states: dict[str, str] = states
            ) -> bool:
                states["file"] = self._site.ask(f"renderings/{rendering}/")["state"]
                states["import"] = self._site.ask(f"imports/{imported}/")["state"]
                states["analysis"] = self._analysis()
                return not set(states.values()) & {"waiting", "working", "reading", "storing", "pending"}

            if not wait_for(is_done, WITHIN_S):
                yield Finding(STUCK, f"long work stands at {states}")
                return
            if states != {"file": "done", "import": "ready", "analysis": "done"}:
                yield Finding(LOST, f"long work came to {states}")

    def _ask(self) -> tuple[int, int]:
        patiently(self._analyse)
        wanted = {"report": self._report, "format": "pdf"}
        rendering = patiently(lambda: self._site.api.post("renderings/", wanted)["id"])
        return int(rendering), int(patiently(self._send, OSError)["id"])

    def _analyse(self) -> None:
        try:
            self._site.api.post(f"analyses/{self._campaign}/retry/")
        except RestError as error:
            # It waits anyway, or an answer was lost on the way.
            if error.status != 409:
                raise

    def _analysis(self) -> str:
        return str(self._site.ask(f"analyses/{self._campaign}/")["state"])

    def _send(self) -> Any:
        mark = secrets.token_hex(8)
        head = f'--{mark}\r\nContent-Disposition: form-data; name="sent"; filename="a.txt"\r\n\r\n'.encode()
        request = urllib.request.Request(
            f"{self._site.api.base}/api/v1/imports/",
            data=head + _FILE + f"\r\n--{mark}--\r\n".encode(),
            headers={
                "Authorization": f"Bearer {self._site.api.token}",
                "Content-Type": f"multipart/form-data; boundary={mark}",
            },
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())
