"""iperf3's report, in JSON or as text, read without trusting it."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import texts
from apps.bench.outputs.documents import EVENT, Json, PrintedJson, dig, number, objects, printed_object
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known
from apps.bench.toolkit import Output, SampleValue
from apps.bench.tools._iperf3 import errors
from apps.bench.tools._iperf3.text import DONE, LISTENING, read_text_report

# Two ways to the same figure may differ by what the program rounds: much more in text, whose times end after 10 ms.
TOLERANCE, TEXT_TOLERANCE, TEXT_TIME_S = 0.01, 0.015, 0.01


class Iperf3Document:
    """A report that is complete: it parsed, tells no error, and has an end with streams and sums."""

    def __init__(self, output: Output, data: Json, *, is_text: bool = False) -> None:
        self.output = output
        self.data = data
        self.is_text = is_text

    def get(self, *path: str) -> Any:
        """Return what lies at a path of keys, or None."""
        return dig(self.data, *path)

    def number(self, *path: str) -> float | None:
        """Return the finite, non-negative number at a path of keys, or None."""
        return number(self.data, *path)

    @property
    def version(self) -> str:
        """Return the program's version, such as "3.12", or "" if it does not say."""
        text = self.get("start", "version")
        match = re.match(r"iperf (\d+\.\d[\w.+-]{0,20})", text, re.ASCII) if isinstance(text, str) else None
        return match[1] if match else ""

    def require_version(self, minimum: str) -> None:
        """Raise the failure of a program that is older than `minimum`."""
        if self.version and _version_key(self.version) < _version_key(minimum):
            raise failure("version-too-old", self.output, minimum=minimum)

    def require_protocol(self, expected: str) -> None:
        """Raise the failure of a report that says it is of another protocol."""
        protocol = self.get("start", "test_start", "protocol")
        if protocol != expected and protocol in ("TCP", "UDP", "SCTP"):
            raise failure("other-protocol", self.output, found=protocol, wanted=expected)

    def rate(self, name: str) -> float:
        """Return the rate (bit/s) of a sum of the end, checked against its bytes and seconds; or ToolFailure."""
        rate_bps, amount, seconds = (self.number("end", name, key) for key in ("bits_per_second", "bytes", "seconds"))
        if rate_bps is None or amount is None or not seconds:
            raise failure("unreadable", self.output)
        computed = amount * 8 / seconds
        tolerance = TEXT_TOLERANCE + TEXT_TIME_S / seconds if self.is_text else TOLERANCE
        if not math.isclose(rate_bps, computed, rel_tol=tolerance, abs_tol=1):
            raise failure("contradictory", self.output, first=f"{rate_bps:.6g}", second=f"{computed:.6g}")
        return rate_bps

    def require_duration(self, name: str, wanted_s: float) -> None:
        """Raise the failure of a measurement whose sum covers less than nine tenths of the time asked for.

        One that was to move an amount (-n, -k; old logs have it) takes the time that this takes.
        """
        if self.is_text and (not is_known(self.output.argv) or DONE in texts.read_text(self.output)):
            return
        if self.number("start", "test_start", "bytes") or self.number("start", "test_start", "blocks"):
            return
        seconds = self.number("end", name, "seconds") or 0.0
        if seconds < 0.9 * wanted_s:
            raise failure("ended-early", self.output, seconds=f"{seconds:.1f}", wanted=f"{wanted_s:g}")

    def streams(self) -> list[Json]:
        """Return the end's streams that are objects."""
        return objects(self.get("end", "streams"))

    def intervals(self) -> list[Json]:
        """Return the intervals that are objects."""
        return objects(self.get("intervals"))


def read_document(outputs: Sequence[Output]) -> Iperf3Document:
    """Return the client's report; ToolFailure says why there is none, in the server's words if they tell more."""
    server = next((output for output in reversed(outputs) if output.role == "server"), None)
    if server and "unable to start listener" in texts.read_text(server):
        raise errors.explain_text(server) or texts.no_result(server, texts.read_text(server))
    client = texts.find_output(outputs, "client")
    texts.refuse_cut_short(client)
    data = load(client)
    if data is None:
        text = texts.read_text(client)
        if reason := errors.explain_text(client):
            raise reason
        if report := read_text_report(text):
            return Iperf3Document(client, report, is_text=True)
        if LISTENING in text and "Accepted connection" in text:
            raise failure("other-side", client)
        if b"{" in client.stdout or "Connecting to host" in text:
            raise failure("unreadable", client)
        raise texts.no_result(client, text)
    if "error" in data:
        raise errors.explain(client, str(data["error"])[:200])
    document = Iperf3Document(client, data)
    if not document.streams():
        raise failure("unreadable", client)
    return document


def figures(samples: Mapping[str, float | None]) -> tuple[SampleValue, ...]:
    """Return the samples that are finite numbers."""
    return tuple(
        SampleValue(metric, value) for metric, value in samples.items() if value is not None and math.isfinite(value)
    )


def load(output: Output) -> Json | None:
    """Return the first JSON object of stdout (warnings may stand before it), or None if there is none.

    Of a stream of events (--json-stream, since 3.17) the report is put together that -J prints.
    """
    first = printed_object(output.stdout)
    if first is None or first.keys() != EVENT:
        return first
    try:
        return _of_events(output.stdout.decode("utf-8", "replace"))
    except ValueError:
        return None


def _of_events(text: str) -> Json:
    report: Json = {"intervals": []}
    for event in PrintedJson(text).lines():
        if not isinstance(event, dict) or event.keys() != EVENT:
            continue
        if event["event"] == "interval":
            report["intervals"].append(event["data"])
        else:
            report[str(event["event"])] = event["data"]
    return report


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
