"""netperf's report: values by name, a line of them under its header, or the tables of older tests and of OMNI."""

import csv
import itertools
import re
from collections.abc import Mapping

from apps.bench.outputs import pacing
from apps.bench.outputs.reconstruction import is_known, read_options
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output
from apps.bench.toolkit.doubts import UNCERTAIN

# What a unit is in bit/s: netperf's bytes are counted by powers of 2 (netlib.c), its bits by powers of 10.
RATES = {
    **{f"10^{power}bits/s": 10.0**power for power in (0, 3, 6, 9)},
    **{f"{letter}Bytes/s": 8.0 * 1024**power for power, letter in enumerate(("", "K", "M", "G"))},
}
TRANSACTIONS = "Trans/s"
# What its -f asks for, by the letter.
_LETTERS = {
    "k": "10^3bits/s", "m": "10^6bits/s", "g": "10^9bits/s", "K": "KBytes/s", "M": "MBytes/s", "G": "GBytes/s",
}  # fmt: skip
# The names of values in a header of -o, by the names of -k.
_TITLES = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Elapsed Time (sec)": "ELAPSED_TIME",
    "Protocol": "PROTOCOL", "Direction": "DIRECTION", "Round Trip Latency usec/tran": "RT_LATENCY",
    "Mean Latency Microseconds": "MEAN_LATENCY", "Minimum Latency Microseconds": "MIN_LATENCY",
    "50th Percentile Latency Microseconds": "P50_LATENCY", "90th Percentile Latency Microseconds": "P90_LATENCY",
    "99th Percentile Latency Microseconds": "P99_LATENCY", "Maximum Latency Microseconds": "MAX_LATENCY",
    "Stddev Latency Microseconds": "STDDEV_LATENCY", "Request Size Bytes": "REQUEST_SIZE",
    "Response Size Bytes": "RESPONSE_SIZE", "Local Send Socket Size Requested": "LSS_SIZE_REQ",
    "Local Send Socket Size Initial": "LSS_SIZE", "Local Send Socket Size Final": "LSS_SIZE_END",
    "Remote Recv Socket Size Requested": "RSR_SIZE_REQ", "Remote Recv Socket Size Initial": "RSR_SIZE",
    "Remote Recv Socket Size Final": "RSR_SIZE_END", "Transport MSS bytes": "TRANSPORT_MSS",
    "Local Transport Retransmissions": "LOCAL_TRANSPORT_RETRANS",
    "Remote Transport Retransmissions": "REMOTE_TRANSPORT_RETRANS", "Local CPU Util %": "LOCAL_CPU_UTIL",
    "Remote CPU Util %": "REMOTE_CPU_UTIL", "Local Congestion Control Algorithm": "LOCAL_CONG_CONTROL",
    "Remote Congestion Control Algorithm": "REMOTE_CONG_CONTROL",
}  # fmt: skip

BANNER = re.compile(r"^(?:MIGRATED )?(TCP|UDP) (STREAM|REQUEST/RESPONSE|MAERTS) TEST from ", re.M)
_OMNI = re.compile(r"^(?:MIGRATED )?OMNI (\S{1,20}) TEST from ", re.M)
# So many more transactions than one were under way at once.
_BURST = re.compile(r" : first burst ([1-9]\d{0,8})$|^BURST_SIZE=(\d{1,9})$", re.M)
_KEY = re.compile(r"^([A-Z][A-Z0-9_]{2,40})=([^\n]*)$", re.M)
_NUMBER = r"(\d{1,15}(?:\.\d{1,6})?)"
_DECIMAL = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?", re.ASCII)
# With -c and -C the loads (%) and the service demands stand behind the rate; -1 where one was not asked for.
_LOADS = r"(?: +(-?[\d.]{1,20}) +(-?[\d.]{1,20}) +-?[\d.]{1,20} +-?[\d.]{1,20})?"
_SECONDS = r"(\d{1,9}\.\d{1,6})"
_STREAM_ROW = re.compile(rf"^ *\d+ +\d+ +\d+ +{_SECONDS} +{_NUMBER}{_LOADS} *$", re.M)
RR_ROW = re.compile(rf"^ *\d+ +\d+ +(\d+) +(\d+) +{_NUMBER} +{_NUMBER}{_LOADS} *\n *\d+ +\d+ *$", re.M)
_OMNI_ROW = re.compile(rf"^ *\d+ +\d+ +\d+ +{_NUMBER} +{_NUMBER} +(\S+/s) *$", re.M)
_UNIT = re.compile(r"(?<!\S)(10\^[0369]bits|[KMG]?Bytes)/s(?:ec)?(?!\S)")
# What it says of its own confidence, and of pauses: from which it was built without, or how long they were (us).
_MISSED = re.compile(r"^!!! Desired confidence was not achieved", re.M)
_WIDTH = re.compile(r"^!!! Confidence intervals: Throughput +: +([\d.]{1,12})%", re.M)
_NO_PACING = re.compile(r"^Packet rate control is not compiled in\.", re.M)
_PAUSES = re.compile(r"^INTERVAL_USECS=[1-9]\d{0,11}$", re.M)


def read_values(text: str, letter: str = "") -> list[dict[str, str]]:
    """Return {name of -k: value} of each result in a text; `letter` is what a known command asked for with -f.

    Where neither the text nor the command tells a rate's unit there is no rate.
    """
    keys = _KEY.findall(text)
    named = [{name: value.strip() for name, value in keys}] * sum(name == "THROUGHPUT" for name, _value in keys)
    return [*named, *_of_lines(text), *_of_tables(text, letter)]


def number(values: Mapping[str, str], key: str) -> float | None:
    """Return a value that is a number and not the -1 that stands for none."""
    text = values.get(key, "")
    value = float(text) if _DECIMAL.fullmatch(text) else -1.0
    return value if value >= 0 else None


def _of_lines(text: str) -> list[dict[str, str]]:
    """Return the line under each header of -o."""
    lines = text.splitlines()
    rows = []
    for header, row in itertools.pairwise(lines):
        names = header.split(",")
        if "Throughput" not in names:
            continue
        fields = next(csv.reader([row]), [])
        if len(fields) == len(names):
            pairs = zip(names, fields, strict=True)
            rows.append({_TITLES[name]: field.strip() for name, field in pairs if name in _TITLES})
    return rows


def _of_tables(text: str, letter: str) -> list[dict[str, str]]:
    """Return the rows of tables under the names that the newer report has."""
    head = _UNIT.search(text)
    named_rows = [
        _row(row, "REQUEST_SIZE", "RESPONSE_SIZE", "ELAPSED_TIME", "THROUGHPUT")
        # With -f it gives the bits of requests and responses instead of their number.
        | {"THROUGHPUT_UNITS": f"{head[1]}/s" if head else TRANSACTIONS}
        for row in RR_ROW.finditer(text)
    ]
    omni_rows = [
        dict(zip(("ELAPSED_TIME", "THROUGHPUT", "THROUGHPUT_UNITS"), row.groups(), strict=True))
        for row in _OMNI_ROW.finditer(text)
    ]
    unit = f"{head[1]}/s" if head else _LETTERS.get(letter, "")
    stream_rows = [
        _row(row, "ELAPSED_TIME", "THROUGHPUT") | {"THROUGHPUT_UNITS": unit} for row in _STREAM_ROW.finditer(text)
    ]
    return named_rows + omni_rows + stream_rows


def _row(row: re.Match[str], *names: str) -> dict[str, str]:
    loads = ("LOCAL_CPU_UTIL", "REMOTE_CPU_UTIL")
    return {name: value for name, value in zip((*names, *loads), row.groups(), strict=True) if value is not None}


def own_doubts(output: Output, text: str) -> list[Flag]:
    """Return the doubts that netperf tells of itself: its confidence (-I), and pauses between its sends (-b, -w)."""
    flags = []
    if _MISSED.search(text):
        width = _WIDTH.search(text)
        text_of_flag = _("netperf did not reach the confidence asked for: its interval is %(width)s %% wide.")
        flags.append(Flag(UNCERTAIN, "warning", Message(text_of_flag, {"width": width[1] if width else "?"})))
    # Of what stands behind "--", -b is a burst at the beginning.
    global_options = itertools.takewhile(lambda word: word != "--", output.argv)
    paused = any(word.startswith("-w") for word in global_options) and not _NO_PACING.search(text)
    return flags + (pacing.paused_flags("-b, -w") if paused or _PAUSES.search(text) else [])


def test_of(output: Output, text: str, values: Mapping[str, str]) -> str | None:
    """Return the test that a report tells of, None if it does not say."""
    banner, omni, protocol = BANNER.search(text), _OMNI.search(text), protocol_of(output, text, values)
    if protocol is None:
        return None
    if values.get("THROUGHPUT_UNITS") == TRANSACTIONS or (banner and banner[2] == "REQUEST/RESPONSE"):
        return f"{protocol}_RR"
    direction = values.get("DIRECTION") or (omni[1] if omni else "")
    if (banner and banner[2] == "MAERTS") or direction == "Receive":
        return f"{protocol}_MAERTS"
    return f"{protocol}_STREAM" if banner or direction == "Send" else None


def protocol_of(output: Output, text: str, values: Mapping[str, str]) -> str | None:
    """Return the protocol that a report or its command tells of ("TCP"), None if neither does: OMNI has any.

    A row of transactions looks the same of either, and of connections that were opened for each, whatever it names.
    """
    is_row_alone = not is_known(output.argv) and " TEST from " not in text
    if is_row_alone and values.get("THROUGHPUT_UNITS") == TRANSACTIONS:
        return None
    if protocol := values.get("PROTOCOL") or ((banner := BANNER.search(text)) and banner[1]):
        return protocol
    if not is_known(output.argv):
        return None
    if (test := read_options(output.argv, {"-t": "test"}, {}).get("test", "TCP")) != "omni":
        return test.partition("_")[0]
    return read_options(_of_test(output), {"-T": "protocol"}, {}).get("protocol", "TCP").upper()


def burst_of(output: Output, text: str) -> int | None:
    """Return how many transactions more than one were under way at once (-b), None if nothing tells."""
    if burst := _BURST.search(text):
        return int(burst[1] or burst[2])
    if is_known(output.argv):
        count = read_options(_of_test(output), {"-b": "burst"}, {}).get("burst", "0")
        return int(count) if re.fullmatch(r"\d{1,9}", count) else None
    # Without a banner, which tells of a burst, a row looks the same with one.
    return 0 if BANNER.search(text) else None


def _of_test(output: Output) -> list[str]:
    """Return the options of the test, which stand behind "--" and mean something else before it."""
    return [*itertools.dropwhile(lambda word: word != "--", output.argv)]
