"""What iperf3's error messages mean; with -J up to version 3.13 they are the only sign, the exit status is 0."""

import itertools
import re

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, ToolFailure

# The version that brought each option of ours: an older program calls it unknown.
SINCE = {"--connect-timeout": "3.2", "--bidir": "3.7"}

# (words of iperf3, reason); the words of the C library behind "unable to connect" are read afterwards.
_REASONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"the server is busy running a test", "port-busy"),
        (r"unable to set TCP_CONGESTION", "congestion-control-unavailable"),
        (r"socket buffer size not set correctly|unable to set socket (buffer|window) size", "buffer-refused"),
        (r"parameter error|unable to set TCP/SCTP MSS|Message too long|required bandwidth", "bad-parameter"),
        # A name that does not resolve; a numeric address cannot give these two.
        (r"unable to connect to server.*: (Resource temporarily unavailable|Invalid argument)", "bad-host"),
        (r"the (server|client) has terminated|has closed unexpectedly|idle timeout|timed out|Broken pipe", "stopped"),
        (r"unable to (send|receive|read|write)|Connection reset|select failed", "stopped"),
    )
)
_CONNECTING = re.compile(r"unable to (connect|start listener|start stream listener|create a new stream)")


def explain(output: Output, words: str) -> ToolFailure:
    """Return the failure that an error message of iperf3 tells of."""
    address = value_after(output.argv, "-c") or value_after(output.argv, "-B") or "the server"
    if _CONNECTING.search(words) and (system_error := texts.system_error(output, words, address)):
        return system_error
    for pattern, reason in _REASONS:
        if pattern.search(words):
            algorithm = value_after(output.argv, "-C")
            return failure(reason, output, said=words, address=address, value=algorithm)
    return failure("no-result", output, said=words)


def explain_text(output: Output) -> ToolFailure | None:
    """Return the failure that plain text (usage, a server's log) tells of, or None."""
    text = texts.read_text(output)
    if unknown := texts.bad_option(output, text):
        option = str(unknown.message.params["option"])
        return failure("version-too-old", output, minimum=SINCE[option]) if option in SINCE else unknown
    match = re.search(r"^iperf3: (?:error - )?(.+)$", text, re.MULTILINE)
    return explain(output, match[1][:200]) if match else None


def value_after(argv: tuple[str, ...], option: str) -> str:
    """Return the word behind an option of an argv, or "" if there is none."""
    for word, following in itertools.pairwise(argv):
        if word == option:
            return following
    return ""
