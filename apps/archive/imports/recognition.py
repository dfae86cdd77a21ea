"""Look at one file: which measurements it holds, what they tell, or why it is refused."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from apps.bench import recognition
from apps.bench.recognition.forms import form_of
from apps.bench.text import Message, _
from apps.bench.toolkit import Output, ToolFailure
from apps.bench.tools import all_tools
from apps.core import moments

# Of a long text, where programs say what they are: its beginning and its end.
HEAD = 128 * 1024
TAIL = 32 * 1024
_LONG = 1024 * 1024
# More outputs than this in one file are a log that is to be cut first.
MOST_OUTPUTS = 2000

_PAIRS = (
    re.compile(r'"local_host":\s*"([^"\s]{1,80})".{0,80}?"remote_host":\s*"([^"\s]{1,80})"', re.S),
    re.compile(r"\blocal (\S{1,80}) port \d+ connected (?:to|with) (\S{1,80}) port"),
)
_TARGETS = (
    re.compile(r"^PING \S{1,80} \(([^)\s]{1,80})\)", re.M),
    re.compile(r"^traceroute to \S{1,80} \(([^)\s]{1,80})\)", re.M),
    re.compile(r"^Connecting to host (\S{1,80}),", re.M),
)
# Seconds since the epoch, as iperf3 and fio write them.
_MOMENT = re.compile(r'"(?:timesecs|timestamp)"\s*:\s*(\d{9,10})\b')
# As fio's text has it at the end of its jobs, in the time of the node: "err= 0: pid=25837: Thu Nov 26 02:59:47 2026".
_DATE = re.compile(r"^\S.{0,200}\): err= ?\d{1,4}: pid=\d{1,9}: \w{3} (\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})$", re.M)
# As iperf3 -V has it at its begin.
_BEGIN = re.compile(r"(?:^|\s)Time: \w{3}, (\d\d \w{3} \d{4} \d\d:\d\d:\d\d) (?:GMT|UTC)$", re.M)


@dataclass(frozen=True)
class OutputReading:
    """One output: the tool's slug and what it tells, or why it is refused; `ends` are the local and the far host."""

    output: Output
    tool: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    ends: tuple[str, str] = ("", "")
    measured_at: datetime | None = None
    refusal: Message | None = None

    @property
    def digest(self) -> str:
        """Return what tells the same output again."""
        return digest_of(self.output.stdout, self.output.stderr)


def storable(value: Any) -> Any:
    """Return plain JSON values without the characters that a database has no place for: NUL and half characters."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(name): storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def digest_of(stdout: bytes, stderr: bytes) -> str:
    """Return the SHA-256 of what a command printed."""
    digest = hashlib.sha256(len(stdout).to_bytes(8, "big"))
    digest.update(stdout)
    digest.update(stderr)
    return digest.hexdigest()


def unread(content: bytes, refusal: Message) -> OutputReading:
    """Return a file of which nothing was read, with the reason."""
    return OutputReading(Output("", "measure", recognition.NODE, (), content, b"", None), refusal=refusal)


def look_at(content: bytes, zone: tzinfo = UTC) -> list[OutputReading]:
    """Return the outputs of a file; a single refused one if nothing is known of it.

    Times that are printed without a zone, as fio's text has them, are taken for times of `zone`.
    """
    if not content.strip():
        return [unread(content, Message(_("The file is empty.")))]
    if len(content) > _LONG and not _is_known(content):
        text = _("No tool is known by the beginning or the end of this file: send all of it as the tool printed it.")
        return [unread(content, Message(text))]
    findings = recognition.read_file(content)
    if len(findings) > MOST_OUTPUTS:
        text = _("The file holds more than %(most)s outputs: cut it into parts.")
        return [unread(content, Message(text, {"most": MOST_OUTPUTS}))]
    # A log of commands holds other things, too: where something is known, the rest is passed over.
    own = [item for item in findings if item.failure is None or item.failure.code != "unrecognised"]
    return [_reading_of(item, zone) for item in own or findings[:1]]


def _is_known(content: bytes) -> bool:
    """Return whether the ends of a long text look like some tool's; reading all of it would take minutes."""
    for part in (content[:HEAD], content[-TAIL:]):
        output = Output("", "measure", recognition.NODE, (), part, b"", None)
        parts = recognition.split_file(part[:HEAD])
        if form_of(output) or any(recognition.candidates_for(item, all_tools()) for item in (output, *parts[:1])):
            return True
    return False


def _reading_of(finding: recognition.Finding, zone: tzinfo) -> OutputReading:
    output = finding.output
    if finding.failure is not None:
        return OutputReading(output, finding.slug, refusal=_said(finding.failure))
    if finding.tool is None or finding.reading is None:
        text = _("This is no measurement's output, but that of a scheduler, a launcher or ss.")
        return OutputReading(output, finding.slug, refusal=Message(text))
    text = _text_of(output)
    return OutputReading(
        output,
        finding.tool.slug,
        told=finding.parameters,
        values={sample.metric: sample.value for sample in finding.reading.samples},
        ends=_ends_of(text),
        measured_at=_moment_of(text, zone),
    )


def _said(failure: ToolFailure) -> Message:
    """Return why there is no result and, where that is known, what to do."""
    remedy = failure.remedy
    if failure.code == "unrecognised":
        remedy = Message(_("send all of it as the tool printed it, or have the tool defined first."))
    if remedy is None:
        return failure.message
    return Message(_("%(what)s – %(remedy)s"), {"what": failure.message.as_json(), "remedy": remedy.as_json()})


def _text_of(output: Output) -> str:
    return output.stdout[:HEAD].decode("utf-8", "replace")


def _ends_of(text: str) -> tuple[str, str]:
    for pattern in _PAIRS:
        if pair := pattern.search(text):
            return pair[1], pair[2]
    far = next((match[1] for pattern in _TARGETS if (match := pattern.search(text))), "")
    return "", far


def _moment_of(text: str, zone: tzinfo) -> datetime | None:
    match, date, begin = _MOMENT.search(text), _DATE.search(text), _BEGIN.search(text)
    try:
        moment = datetime.fromtimestamp(int(match[1]), UTC) if match else None
        if date:
            moment = datetime.strptime(date[1], "%b %d %H:%M:%S %Y").replace(tzinfo=zone)
        elif begin and not match:
            moment = datetime.strptime(begin[1], "%d %b %Y %H:%M:%S").replace(tzinfo=UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment if moment and moments.is_reasonable(moment) else None
