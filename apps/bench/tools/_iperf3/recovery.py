"""From a recorded run of iperf3 back to its parameters, and to the protocol it measured."""

import collections
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench import units
from apps.bench.outputs import pacing, texts
from apps.bench.outputs.reconstruction import is_known, read_options
from apps.bench.outputs.scales import DECIMAL, scaled, whole_seconds
from apps.bench.toolkit import Output
from apps.bench.tools._iperf3.document import Json, dig, load, number, objects
from apps.bench.tools._iperf3.options import BOTH, FORWARD, REVERSE
from apps.bench.tools._iperf3.text import read_text_report

OPENING = re.compile(r"(?:^|^[^\n]{1,220} )Connecting to host \S+, port \d", re.M)
SIGNATURES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r'"version":\s*"iperf 3\.',
        r"^iperf 3\.\d",
        r"^iperf3: ",
        r"(?:^|^[^\n]{1,220} )(?:Connecting to host \S+, port \d|Server listening on \d+)",
        r'^\{"event": ?"(?:start|interval|end|error)", ?"data": ?',
        r"^\[(?: *\d+|SUM)\](?:\[[TR]X-[CS]\])? +\d+\.\d\d-\d+\.\d\d +sec .*/sec",
        r"^Usage: iperf3 ",
    )
)

_VALUED = {
    "-t": "duration", "--time": "duration",
    "-O": "omit", "--omit": "omit",
    "-P": "streams", "--parallel": "streams",
    "-i": "interval", "--interval": "interval",
    "-p": "port", "--port": "port",
    "-w": "window", "--window": "window",
    "-C": "congestion", "--congestion": "congestion",
    "-M": "mss", "--set-mss": "mss",
    "-b": "rate", "--bitrate": "rate", "--bandwidth": "rate",
    "-l": "length", "--length": "length",
    # Options whose values must not be taken for others.
    "-c": "", "--client": "", "-n": "", "--bytes": "", "-k": "", "--blockcount": "", "-B": "", "--bind": "",
    "-f": "", "--format": "", "--cport": "", "-S": "", "--tos": "", "-F": "", "--file": "", "-A": "",
    "--connect-timeout": "", "-T": "", "--title": "", "--dscp": "", "-L": "", "--fq-rate": "fq_rate",
}  # fmt: skip
_FLAGS = {
    "-u": "udp", "--udp": "udp", "-R": "reverse", "--reverse": "reverse", "--bidir": "both",
    "-J": "", "--json": "", "-V": "", "--verbose": "", "-4": "", "-6": "", "-Z": "", "-N": "",
}  # fmt: skip
# What iperf3 takes where -b is not given with -u: 1 Mbit/s; with TCP, no limit.
DEFAULT_UDP_RATE = 1_048_576


def protocol_of(output: Output) -> str:
    """Return "TCP" or "UDP" as the report or else the argv says, "" if neither tells."""
    protocol = dig(_report(output), "start", "test_start", "protocol")
    if protocol in ("TCP", "UDP"):
        return str(protocol)
    if len(output.argv) < 2:
        return ""
    return "UDP" if "udp" in _argv_options(output) else "TCP"


def recover_parameters(output: Output) -> dict[str, Any]:
    """Return raw parameters of both tools by name; what one of them does not know, or refuses, is to be left out."""
    options = _argv_options(output)
    raw = _usual(output.argv) if _is_client(output.argv) else {}
    raw |= {name: text for name, text in options.items() if name not in ("udp", "reverse", "both")}
    if "rate" in raw:
        raw["rate"] = _of_all_streams(raw["rate"].partition("/")[0], raw.get("streams", "1"))
    elif "udp" in options:
        raw["rate"] = _of_all_streams(str(DEFAULT_UDP_RATE), options.get("streams", "1"))
    if "reverse" in options or "both" in options:
        raw["direction"] = BOTH if "both" in options else REVERSE
    report = _report(output)
    pace = _pace(options, report)
    # Reports before version 3.17 do not tell of --fq-rate: that they tell of no limit says nothing.
    if pace or is_known(output.argv) or dig(report, "start", "test_start", "fqrate") is not None:
        raw["pace"] = pace
    return raw | {name: value for name, value in _of_report(report).items() if value is not None}


def _is_client(argv: Sequence[str]) -> bool:
    """Return whether a command line is known, and a client's: what it does not name is then as iperf3 has it."""
    return is_known(argv) and any(word in ("-c", "--client") or word.startswith("--client=") for word in argv)


def _usual(argv: Sequence[str]) -> dict[str, Any]:
    """Return what iperf3 takes where its client's command line does not say (its manual page)."""
    usual: dict[str, Any] = {
        "window": 0, "streams": 1, "omit": 0, "direction": FORWARD, "congestion": "", "mss": 0, "interval": 1,
        "port": 5201,
    }  # fmt: skip
    amounts = ("-n", "--bytes", "-k", "--blockcount")
    is_timed = not any(word.startswith(amounts) for word in argv[1:])
    return usual | ({"duration": 10} if is_timed else {})


def _pace(options: Mapping[str, str], report: Json) -> float:
    """Return the limit (bit/s) over all streams of -b and --fq-rate, which iperf3 takes for each; 0 for none."""
    test = dig(report, "start", "test_start")
    limits: list[float | None] = [
        scaled(options.get(name, "").partition("/")[0], DECIMAL) for name in ("rate", "fq_rate")
    ]
    limits += [number(test, "target_bitrate"), number(test, "fqrate")]
    streams = number(test, "num_streams") or scaled(options.get("streams"), DECIMAL) or 1
    return float((pacing.least(*limits) or 0) * streams)


def _argv_options(output: Output) -> dict[str, str]:
    options = read_options(output.argv, _VALUED, _FLAGS)
    return {name: text for name, text in options.items() if name}


def _report(output: Output) -> Json:
    return load(output) or read_text_report(texts.read_text(output)) or {}


def _of_report(report: Json) -> dict[str, Any]:
    """Return what the report says was asked for; text tells less than JSON."""
    test = dig(report, "start", "test_start")
    if not isinstance(test, dict):
        return {}
    streams = number(test, "num_streams")
    rate, length = number(test, "target_bitrate"), number(test, "blksize")
    is_udp = test.get("protocol") == "UDP"
    reverse = number(test, "reverse")
    direction = None if reverse is None else REVERSE if reverse else FORWARD
    if number(test, "bidir") or dig(report, "end", "sum_received_bidir_reverse"):
        direction = BOTH
    return {
        "duration": number(test, "duration") or None,
        "omit": number(test, "omit"),
        "streams": streams,
        "direction": direction,
        "interval": _interval(report),
        "port": number(report, "start", "connecting_to", "port"),
        "window": number(report, "start", "sock_bufsize"),
        # It tells either what was asked for, or what the path has.
        "mss": number(report, "start", "tcp_mss") or (0 if dig(report, "start", "tcp_mss_default") else None),
        "congestion": dig(report, "end", "sender_tcp_congestion"),
        "rate": rate * (streams or 1) if rate and is_udp else None,
        "length": length if is_udp else None,
    }


def _interval(report: Json) -> float | None:
    """Return the seconds between two reports, None where a full machine kept its timer for longer."""
    lengths = [number(row, "sum", "seconds") for row in objects(report.get("intervals"))]
    # An interval ends when its timer is served, some ten thousandths late; the last one ends with the test.
    counts = collections.Counter(round(length, 1) for length in lengths if length)
    length, count = max(counts.items(), key=lambda item: item[1], default=(0.0, 0))
    if count > 1:
        return length
    # With -i 0 there is one interval, as long as the test.
    return whole_seconds(length or number(report, "end", "sum_sent", "seconds")) if len(lengths) < 2 else None


def _of_all_streams(each: str, streams: str) -> float | str:
    """Return the load of all streams: iperf3 takes that of one."""
    try:
        total = float(units.parse_quantity(each, "rate")) * int(streams)
    except (units.UnitError, ValueError, OverflowError):
        return each
    return total if math.isfinite(total) else each
