"""What the errors of globus-url-copy mean: its own words, those of the servers behind "500-", the C library's."""

import re
from collections.abc import Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure
from apps.bench.tools._gridftp.layout import PREPARE, SERVE
from apps.bench.tools._storage import errors as storage

_ERROR = re.compile(r"^(?:error|Error)[:,] ", re.M)
_OPTION = re.compile(r"argument #\d+ \((?P<option>[^)\s]{1,40})\) : unknown option")
_ADDRESS = re.compile(r"Unable to connect to (?P<address>\S{1,200}?):\d{1,5}\s")
# The server looks up the name of the address at which it listens, and ends if no resolver answers at all.
_UNNAMED = (
    r"globus_libc_addr_to_contact_string failed\.\s+(?:500-)?globus_common: (?:temporary failure|name or service)"
)
# (words, reason), in the order in which they decide.
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (rf"globus_libc_gethostaddr failed|{_UNNAMED}", "host-unresolvable"),
        (r"credential|GSS failure|GSSAPI|530 .*(?:login|denied)|login incorrect", "credentials-needed"),
        (r"path not allowed", "permission"),
    )
)
_BROKEN = re.compile(
    r"^.*(?:end-of-file was reached|end of file occurred|connection (?:reset|closed)|broken pipe)", re.I | re.M
)
_NUMBERED = re.compile(r"^\d{3}[- ]")


def explain(output: Output, text: str) -> ToolFailure | None:
    """Return the failure that the client's words tell of, None if they tell of none."""
    if not _ERROR.search(text):
        return None
    if option := _OPTION.search(text):
        return failure("unknown-option", output, option=option["option"])
    first_words = _first_words(text)
    for pattern, reason in _WORDS:
        if match := pattern.search(text):
            return failure(reason, output, said=_line(text, match.start()))
    if broken := _BROKEN.search(text):
        return failure("transfer-broke", output, said=broken[0].strip()[:200])
    address = _ADDRESS.search(text)
    if address and (found_error := texts.system_error(output, text, address["address"])):
        return found_error
    return storage.explain(output, text) or failure("no-result", output, said=first_words)


def explain_others(outputs: Sequence[Output]) -> ToolFailure | None:
    """Return why the commands around the client's did not do their part, None if they did."""
    for output in outputs:
        text = texts.read_text(output)
        if output.stage == PREPARE and (problem := explain(output, text)):
            return problem
        if output.stage.startswith(SERVE) and "Could not start server" in text:
            return _unstarted(output, text)
    return None


def _unstarted(output: Output, text: str) -> ToolFailure:
    """Return why a server did not start."""
    if re.search(_UNNAMED, text, re.IGNORECASE):
        last = text.rindex("globus_common: ")
        return failure("host-unresolvable", output, said=_line(text, last))
    return texts.system_error(output, text, "") or texts.no_result(output, text)


def _first_words(text: str) -> str:
    """Return the first line that says more than that there was an error."""
    lines = [_NUMBERED.sub("", line.strip()) for line in text[_start(text) :].splitlines()]
    telling = (line for line in lines if line and "server responded with an error" not in line)
    return next(telling, "").removeprefix("error: ")[:200]


def _start(text: str) -> int:
    match = _ERROR.search(text)
    return match.start() if match else 0


def _line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return _NUMBERED.sub("", text[start : end if end >= 0 else None].strip())[:200]
