"""iperf3's report without -J, made into the form of its JSON: figures of three digits, but the same figures."""

import re
from collections.abc import Mapping
from typing import Any

from apps.bench.outputs.scales import finer_rate, whole_seconds

Json = dict[str, Any]

LISTENING = "Server listening on"
# The last words of a client that lost nothing on its way.
DONE = "iperf Done."

_NUMBER = r"(\d{1,12}(?:\.\d{1,6})?)"
_ROW = re.compile(
    r"^\[ *(?P<id>\d{1,5}|SUM)\](?:\[(?P<way>[TR]X)-[CS]\])? +"
    rf"{_NUMBER}- *{_NUMBER} +sec +{_NUMBER} ([KMGT]?)Bytes +{_NUMBER} ([KMGT]?)(bits|Bytes)/sec(?P<rest>.*)$",
    re.ASCII,
)
_END = re.compile(r" (?P<side>sender|receiver) *$")
_DATAGRAMS = re.compile(rf"{_NUMBER} ms +(\d{{1,12}})/(\d{{1,12}}) \(")
_RETRANSMITS = re.compile(r"^ +(\d{1,9}) ")
_CWND = re.compile(rf"^ +\d{{1,9}} +{_NUMBER} ([KMGT]?)Bytes")
_CPU = re.compile(rf"^CPU Utilization: local/\w+ {_NUMBER}%.*remote/\w+ {_NUMBER}%", re.M | re.ASCII)
_CONGESTION = re.compile(r"^(snd|rcv)_tcp_congestion (\w{1,15})$", re.M | re.ASCII)
_VERSION = re.compile(r"^iperf \d{1,3}\.\d[\w.+-]{0,20}$", re.M | re.ASCII)
# Of -V: what was asked for, or with "(default)" what the path has; and the limit of each stream, if there is one.
_MSS = re.compile(r"^ +TCP MSS: (\d{1,6})( \(default\))?$", re.M | re.ASCII)
_TARGET = re.compile(r"^ +Target Bitrate: (\d{1,15})$", re.M | re.ASCII)
_PORT = re.compile(r"^Connecting to host \S{1,200}, port (\d{1,5})$", re.M | re.ASCII)
# Of -V: "Starting Test: protocol: UDP, 2 streams, 1448 byte blocks, omitting 0 seconds, 2 second test, tos 0".
_TEST = re.compile(
    r"^Starting Test: protocol: \w{3}, \d{1,4} streams?, (\d{1,9}) byte blocks, omitting (\d{1,4}) seconds", re.M
)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


# Before each line: what --title names, and the time of --timestamps, as strftime's %c or as ISO 8601.
_TITLE = re.compile(r"^(?P<title>\S.{0,200}?:  )(?=.*(?:Connecting to host|Server listening on) )", re.M)
_STAMP = re.compile(
    r"^(?:[A-Z]\w{2} [A-Z]\w{2} +\d{1,2} \d\d:\d\d:\d\d \d{4}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,10}|\d\d:\d\d:\d\d) (?=\S)",
    re.M,
)


def bare(text: str) -> str:
    """Return a report without the title and the time that can stand before each of its lines."""
    if "Connecting to host" not in text and LISTENING not in text:
        return text
    text = _STAMP.sub("", text)
    title = _TITLE.search(text)
    if title:
        text = "\n".join(line.removeprefix(title["title"]) for line in text.splitlines())
    return _STAMP.sub("", text)


def read_text_report(text: str) -> Json | None:
    """Return what a whole text report says in the form of ``-J``, None if it is not one that came to its end."""
    # With --get-server-output the server's own report follows, with numbers of its own for the same streams.
    text = bare(text).partition("\nServer output:")[0]
    is_reverse = "\nReverse mode" in text
    rows = [row for line in text.splitlines() if (row := _read_row(line, is_reverse=is_reverse))]
    ends = [row for row in rows if "side" in row]
    if not ends:
        return None
    start = _read_start(text, rows, ends)
    end = _read_end([row for row in rows if "side" not in row], ends, is_udp=start["test_start"]["protocol"] == "UDP")
    if not end["streams"]:
        return None
    if cpu := _CPU.search(text):
        end["cpu_utilization_percent"] = {"host_total": float(cpu[1]), "remote_total": float(cpu[2])}
    for side, name in _CONGESTION.findall(text):
        end["sender_tcp_congestion" if side == "snd" else "receiver_tcp_congestion"] = name
    return {"start": start, "intervals": _read_intervals(rows), "end": end}


def _read_row(line: str, *, is_reverse: bool) -> Json | None:
    """Return the figures of one line: those of an interval, or with a "side" those of the end."""
    match = _ROW.match(line)
    if not match:
        return None
    _id, way, start, end, amount, prefix, rate, rate_prefix, unit, rest = match.groups()
    per_unit = (1024 if unit == "Bytes" else 1000) ** _POWERS[rate_prefix] * (8 if unit == "Bytes" else 1)
    seconds, size = float(end) - float(start), float(amount) * 1024 ** _POWERS[prefix]
    row: Json = {
        "socket": match["id"],
        "way": way,
        "start": float(start),
        "end": float(end),
        "seconds": seconds,
        "bytes": size,
        # What is printed in the unit that -f asked for may be "0.01".
        "bits_per_second": finer_rate(rate, per_unit, size * 8 / seconds) if seconds > 0 else float(rate) * per_unit,
        "omitted": "(omitted)" in rest,
        "sender": way == "TX" if way else not is_reverse,
    }
    if datagrams := _DATAGRAMS.search(rest):
        lost, packets = int(datagrams[2]), int(datagrams[3])
        row |= {"jitter_ms": float(datagrams[1]), "lost_packets": lost, "packets": packets}
    elif retransmits := _RETRANSMITS.match(rest):
        row["retransmits"] = int(retransmits[1])
    if cwnd := _CWND.match(rest):
        row["snd_cwnd"] = float(cwnd[1]) * 1024 ** _POWERS[cwnd[2]]
    if side := _END.search(rest):
        row["side"] = side["side"]
    return row


def _read_start(text: str, rows: list[Json], ends: list[Json]) -> Json:
    streams = {row["socket"] for row in ends if row["socket"] != "SUM" and row["way"] != "RX"}
    is_udp = "Datagrams" in text or any("jitter_ms" in row for row in ends)
    whole = next((row["seconds"] for row in ends if row["side"] == "sender"), 0.0)
    start: Json = {
        "test_start": {
            "protocol": "UDP" if is_udp else "TCP",
            "num_streams": len(streams),
            "duration": whole_seconds(whole) or 0,
        }
    }
    test: Json = start["test_start"]
    # With -i 0 there are no lines but the last, of which none is said to be omitted.
    if len(rows) > len(ends):
        test["omit"] = round(max((row["end"] for row in rows if row["omitted"]), default=0))
    if port := _PORT.search(text):
        # A server's report does not say in which direction it was asked to send.
        test["reverse"] = int("\nReverse mode" in text)
        start["connecting_to"] = {"port": int(port[1])}
    if match := _TEST.search(text):
        test |= {"blksize": int(match[1]), "omit": int(match[2])}
    if version := _VERSION.search(text):
        start["version"] = version[0]
    if mss := _MSS.search(text):
        start["tcp_mss_default" if mss[2] else "tcp_mss"] = int(mss[1])
    if target := _TARGET.search(text):
        test["target_bitrate"] = int(target[1])
    return start


def _read_end(intervals: list[Json], ends: list[Json], *, is_udp: bool) -> Json:
    """Return the streams and the sums of both directions; a single stream is its own sum."""
    by_stream: dict[str, dict[str, Json]] = {}
    end: Json = {"streams": []}
    for row in ends:
        if row["socket"] == "SUM":
            end[_sum_name(row)] = row
        else:
            by_stream.setdefault(row["socket"], {})[row["side"]] = row
            end.setdefault(_sum_name(row), row)
    for socket, sides in by_stream.items():
        if is_udp:
            end["streams"].append({"udp": sides.get("receiver") or sides["sender"]})
        elif "sender" in sides and "receiver" in sides:
            windows = [row["snd_cwnd"] for row in intervals if row["socket"] == socket and "snd_cwnd" in row]
            largest = {"max_snd_cwnd": max(windows)} if windows else {}
            end["streams"].append({"sender": sides["sender"] | largest, "receiver": sides["receiver"]})
    return end


def _sum_name(row: Mapping[str, Any]) -> str:
    name = "sum_sent" if row["side"] == "sender" else "sum_received"
    return f"{name}_bidir_reverse" if row["way"] == "RX" else name


def _read_intervals(rows: list[Json]) -> list[Json]:
    """Return the intervals: lines of one time and one state (omitted or not) belong together."""
    groups: dict[tuple[float, float, bool], list[Json]] = {}
    for row in rows:
        if "side" not in row:
            groups.setdefault((row["start"], row["end"], row["omitted"]), []).append(row)
    intervals = []
    for members in groups.values():
        interval: Json = {"streams": [row for row in members if row["socket"] != "SUM"]}
        for name, is_back in (("sum", False), ("sum_bidir_reverse", True)):
            same_way = [row for row in members if (row["way"] == "RX") == is_back]
            total = next((row for row in same_way if row["socket"] == "SUM"), None)
            alone = same_way[0] if len(same_way) == 1 else None
            if total or alone:
                interval[name] = total or alone
        intervals.append(interval)
    return intervals
