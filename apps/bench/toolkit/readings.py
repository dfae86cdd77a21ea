"""What a measurement printed, what was read from it, and why there may be no result."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from apps.bench.text import Message

Json = dict[str, Any]

# The line that the agent puts where it cut something out (`workers.agent.excerpts`).
_CUT_LINE = re.compile(rb"^\[fathom-agent: [0-9]+ bytes were cut here on the way\]$", re.M)


class ToolFailure(Exception):
    """A measurement that gave no result: a code, the reason, what to do, and whether to try again."""

    def __init__(self, code: str, message: Message, retryable: bool, remedy: Message | None = None) -> None:
        self.code = code
        self.message = message
        self.retryable = retryable
        self.remedy = remedy
        super().__init__(f"{code}: {message}")

    def as_json(self) -> Json:
        """Return ``{"code", "message", "remedy", "retryable"}``, the form in which a trial keeps its reason."""
        remedy = self.remedy.as_json() if self.remedy else None
        return {
            "code": self.code,
            "message": self.message.as_json(),
            "remedy": remedy,
            "retryable": self.retryable,
        }

    @classmethod
    def from_json(cls, data: Json) -> "ToolFailure":
        """Return the failure that ``as_json`` wrote."""
        remedy = Message.from_json(data["remedy"]) if data.get("remedy") else None
        return cls(data["code"], Message.from_json(data["message"]), data["retryable"], remedy)


@dataclass(frozen=True)
class Output:
    """What one command printed and how it ended; times are in server time (s since the epoch).

    `collected` holds the files of its work folder that the command asked to be given back, as far as they existed;
    `telemetry` what the agent read from the kernel meanwhile (`apps.bench.telemetry` knows its form); `facts` what it
    had told of the node when it was handed the command; `clock_offset_s` is the server's time less the node's, by
    which the times were corrected, `clock_error_s` how far that may be off. Of one that `is_cut` something is missing
    in what it printed or in its files: all after the output limit, or what was between head and tail. One that
    `is_background` served others, and was stopped after them.
    """

    role: str
    stage: str
    node: str
    argv: tuple[str, ...]
    stdout: bytes
    stderr: bytes
    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    collected: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    telemetry: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    clock_offset_s: float | None = None
    clock_error_s: float | None = None
    is_cut: bool = False
    is_background: bool = False


def ends_of(text: bytes) -> tuple[bytes, bytes]:
    """Return the whole lines before and after the agent's line in a text that was cut; no tail where none stands."""
    parts = _CUT_LINE.split(text)
    tail = parts[-1].lstrip(b"\n") if len(parts) > 1 else b""
    # The lines at the cut need not be whole.
    return parts[0].rstrip(b"\n").rpartition(b"\n")[0], tail.partition(b"\n")[2]


@dataclass(frozen=True)
class SampleValue:
    """One figure in the metric's base unit; a reading has at most one of each metric."""

    metric: str
    value: float


# The stream of a series whose `times` are sizes (B) of messages or records begins so.
BY_SIZE = "by size"


@dataclass(frozen=True)
class SampleSeries:
    """A metric over time: `times` in s from the start of the measurement (omitted time is negative).

    Where the stream begins with `BY_SIZE` it is the metric over the size of messages or records: `times` are bytes.
    """

    metric: str
    stream: str
    unit: str
    times: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Flag:
    """A doubt about a result; severity is info, warning or invalid. It bears on `metrics` only, if it names any."""

    name: str
    severity: str
    message: Message
    metrics: tuple[str, ...] = ()

    def as_json(self) -> Json:
        """Return the flag as plain JSON values."""
        scope = {"metrics": list(self.metrics)} if self.metrics else {}
        return {"name": self.name, "severity": self.severity, "message": self.message.as_json(), **scope}

    @classmethod
    def from_json(cls, data: Json) -> "Flag":
        """Return the flag that ``as_json`` wrote."""
        return cls(data["name"], data["severity"], Message.from_json(data["message"]), tuple(data.get("metrics", ())))


@dataclass(frozen=True)
class Reading:
    """What a parser read: figures, series, and apart from each other what was asked, granted and seen."""

    samples: tuple[SampleValue, ...]
    series: tuple[SampleSeries, ...] = ()
    requested: Json = field(default_factory=dict)
    granted: Json = field(default_factory=dict)
    observed: Json = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    tool_version: str = ""

    def as_json(self) -> Json:
        """Return the reading as plain JSON values."""
        return {
            "samples": [vars(sample) for sample in self.samples],
            "series": [{**vars(s), "times": list(s.times), "values": list(s.values)} for s in self.series],
            "requested": self.requested,
            "granted": self.granted,
            "observed": self.observed,
            "flags": [flag.as_json() for flag in self.flags],
            "tool_version": self.tool_version,
        }

    @classmethod
    def from_json(cls, data: Json) -> "Reading":
        """Return the reading that ``as_json`` wrote."""
        return cls(
            samples=tuple(SampleValue(**item) for item in data["samples"]),
            series=tuple(
                SampleSeries(**{**item, "times": tuple(item["times"]), "values": tuple(item["values"])})
                for item in data["series"]
            ),
            requested=data["requested"],
            granted=data["granted"],
            observed=data["observed"],
            flags=tuple(Flag.from_json(item) for item in data["flags"]),
            tool_version=data["tool_version"],
        )

    def value(self, metric: str) -> float | None:
        """Return the figure of a metric, or None."""
        return next((sample.value for sample in self.samples if sample.metric == metric), None)


def bears_on(flag: Json, metric: str) -> bool:
    """Return whether a flag, in its stored form, bears on the figure of a metric."""
    return not flag.get("metrics") or metric in flag["metrics"]


def is_invalid(flag: Json, metric: str) -> bool:
    """Return whether a flag, in its stored form, makes the figure of a metric invalid."""
    return flag["severity"] == "invalid" and bears_on(flag, metric)
