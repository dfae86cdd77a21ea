"""iperf 2's report as text or CSV: streams, their intervals, and what its head says of buffers."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.bench.outputs.scales import finer_rate, is_coarse

_NUMBER = r"(\d{1,15}(?:\.\d{1,6})?)"
_UNITS = "KMGT"
CSV_ROUNDING_S = 0.06
_LINE = re.compile(
    rf"^\[ *\*?(?P<id>\d{{1,4}})\] +{_NUMBER} *- *{_NUMBER} sec +{_NUMBER} ([{_UNITS}]?)Bytes +{_NUMBER} "
    rf"([{_UNITS}]?)(bits|Bytes)/sec(?P<rest>[^\n]*)$",
    re.M,
)
_CSV = re.compile(
    r"^\d{14}(?:\.\d+)?,(?P<here>[^,\n]{1,60},\d{1,5}),(?P<there>[^,\n]{1,60},\d{1,5}),(?P<id>\d{1,4}),"
    r"(?P<start>\d{1,15}(?:\.\d{1,6})?)-(?P<end>\d{1,15}(?:\.\d{1,6})?),(?P<amount>\d{1,18}),(?P<rate>\d{1,18})"
    r"(?:,(?P<jitter>\d{1,15}(?:\.\d{1,6})?),(?P<lost>-?\d{1,12}),(?P<total>-?\d{1,12}),[^,\n]*,\d{1,12})?$",
    re.M,
)
_CONNECTED = re.compile(r"^\[ *\*?\d{1,4}\] local .*connected with ", re.M)
_REVERSE = re.compile(r"^\[ *\*?\d{1,4}\] local .*connected with .*\(reverse\)", re.M)
_FULL_DUPLEX = re.compile(r"^\[ *\*?\d{1,4}\] local .*connected with .*\(full-duplex\)", re.M)
_CLIENT, _SERVER = "Client connecting to ", "Server listening on "
# Behind the rate: with -e "writes/errors retries cwnd K/rtt(var) us", of datagrams "jitter ms lost/total".
_TCP_REST = re.compile(r"^ +\d{1,12}/\d{1,12} +(\d{1,12})(?: +(\d{1,9})K/(\d{1,9})(?:\(\d{1,9}\))? us)?")
_UDP_REST = re.compile(rf"^ +{_NUMBER} ms +(\d{{1,12}})/ *(\d{{1,12}}) \(")
_OUT_OF_ORDER = re.compile(r"^\[ *(\d{1,4})\] .*?(\d{1,12}) datagrams received out-of-order$", re.M)
_BUFFER = re.compile(
    rf"^(?:TCP window|UDP buffer) size: +{_NUMBER} ([{_UNITS}]?)Byte",
    re.M,
)
_MSS = re.compile(r"icwnd/mss/irtt=\d{1,9}/(\d{1,6})/(\d{1,12})")
_DATAGRAM = re.compile(r"^Sending (\d{1,5}) byte datagrams", re.M)
_BINARY = {"": 1, **{unit: 1024**power for power, unit in enumerate(_UNITS, 1)}}
_DECIMAL = {"": 1, **{unit: 1000**power for power, unit in enumerate(_UNITS, 1)}}


@dataclass(frozen=True)
class StreamLine:
    """One line of a stream: its interval (s), its bytes and rate (bit/s), and what else it told (s, B).

    It `is_coarse` if neither bytes nor rate have the digits that a rate is known by.
    """

    stream: str
    start: float
    end: float
    amount: float
    rate_bps: float
    retries: int | None = None
    cwnd: float | None = None
    rtt: float | None = None
    jitter: float | None = None
    lost: int | None = None
    total: int | None = None
    is_coarse: bool = False

    @property
    def is_received(self) -> bool:
        """Return whether it counts what arrived of datagrams."""
        return self.total is not None


@dataclass
class Iperf2Report:
    """One test as one side told of it: a final line for each stream, the intervals before, and the head."""

    finals: list[StreamLine] = field(default_factory=list)
    intervals: list[StreamLine] = field(default_factory=list)
    received: list[StreamLine] = field(default_factory=list)
    out_of_order: int | None = None
    buffer: float | None = None
    mss: int | None = None
    datagram: int | None = None
    rtt: float | None = None
    # CSV says by its columns which protocol was measured.
    is_of_datagrams: bool = False
    is_of_segments: bool = False


def is_of_both_ways(text: str) -> bool:
    """Return whether a text tells of two tests, one each way (-d, -r): at once, or one after the other."""
    ends = [frozenset((row["here"], row["there"])) for row in _CSV.finditer(text)]
    if _FULL_DUPLEX.search(text):
        return True
    # All streams of one test, and the report of its server, share the server's end.
    return (_CLIENT in text and _SERVER in text) or bool(ends and not frozenset.intersection(*ends))


def is_in_both_forms(text: str) -> bool:
    """Return whether a text holds results in words and in CSV: one test has one form."""
    return bool(_CSV.search(text) and _LINE.search(text))


def is_reverse(text: str) -> bool:
    """Return whether the server was the one that sent (-R)."""
    return _REVERSE.search(text) is not None


def has_head(text: str) -> bool:
    """Return whether a text tells of its connections, and so which way each of them went."""
    return _CONNECTED.search(text) is not None


def scaled_rate(number: str, letter: str) -> float:
    """Return a rate (bit/s) that was printed with a letter of thousands."""
    return float(number) * _DECIMAL[letter]


def count_tests(text: str) -> int:
    """Return how many tests a server's log tells of: connections made after results are of the next one."""
    marks = sorted(
        [(match.start(), "connected") for match in _CONNECTED.finditer(text)]
        + [(match.start(), "result") for match in _LINE.finditer(text)]
    )
    kinds = [kind for kind, _group in itertools.groupby(kind for _position, kind in marks)]
    return kinds.count("result")


def read_report(text: str) -> Iperf2Report:
    """Return what a text tells of one test."""
    report = Iperf2Report()
    lines = _read_lines(text)
    received = [line for line in lines if line.is_received]
    sender_lines = [line for line in lines if not line.is_received]
    report.finals = _finals(sender_lines)
    report.received = _finals(received)
    report.intervals = [line for line in (sender_lines or received) if line not in report.finals + report.received]
    rows = list(_CSV.finditer(text))
    report.is_of_datagrams = any(row["total"] is not None for row in rows)
    report.is_of_segments = bool(rows) and not report.is_of_datagrams
    disorder = {match[1]: int(match[2]) for match in _OUT_OF_ORDER.finditer(text)}
    if report.received:
        report.out_of_order = sum(disorder.values())
    if head := _BUFFER.search(text):
        report.buffer = float(head[1]) * _BINARY[head[2]]
    if sizes := _DATAGRAM.search(text):
        report.datagram = int(sizes[1])
    if wire := _MSS.search(text):
        report.mss, report.rtt = int(wire[1]), int(wire[2]) / 1e6
    return report


def _read_lines(text: str) -> list[StreamLine]:
    lines = [_of_text(match) for match in _LINE.finditer(text)]
    return [line for line in lines if line is not None] + _of_rows(list(_CSV.finditer(text)))


def _of_rows(rows: Sequence[re.Match[str]]) -> list[StreamLine]:
    """Return the lines of CSV: of datagrams a client's rows count what it sent, up to the one that says -1."""
    lines: list[StreamLine] = []
    sending = {row["id"] for row in rows if row["total"] == "-1"}
    for row in rows:
        lines.append(_of_csv(row, is_received=row["total"] is not None and row["id"] not in sending))
        if row["total"] == "-1":
            sending.discard(row["id"])
    return lines


def _of_text(match: re.Match[str]) -> StreamLine | None:
    """Return a line; None for a rate that is nothing but too small for the unit that was asked for."""
    size, seconds = float(match[4]) * _BINARY[match[5]], float(match[3]) - float(match[2])
    are_coarse = is_coarse(match[4]) and is_coarse(match[6])
    if match[7] in ("K", "M", "G", "T") and not float(match[6]) and (are_coarse or seconds <= 0):
        return None
    tcp, udp = _TCP_REST.match(match["rest"]), _UDP_REST.match(match["rest"])
    factor = _DECIMAL[match[7]] if match[8] == "bits" else 8 * _BINARY[match[7]]
    is_finer = seconds > 0 and not is_coarse(match[4])
    rate = finer_rate(match[6], factor, size * 8 / seconds) if is_finer else float(match[6]) * factor
    return StreamLine(
        match["id"],
        float(match[2]),
        float(match[3]),
        size,
        rate,
        retries=int(tcp[1]) if tcp else None,
        cwnd=int(tcp[2]) * 1024.0 if tcp and tcp[2] else None,
        rtt=int(tcp[3]) / 1e6 if tcp and tcp[3] else None,
        jitter=float(udp[1]) / 1000 if udp else None,
        lost=int(udp[2]) if udp else None,
        total=int(udp[3]) if udp else None,
        is_coarse=are_coarse and size > 0,
    )


def _of_csv(match: re.Match[str], *, is_received: bool) -> StreamLine:
    amount, rate = float(match["amount"]), float(match["rate"])
    start, end = float(match["start"]), float(match["end"])
    # Times have one digit; bytes and rate tell the end to the microsecond.
    exact = start + amount * 8 / rate if rate else end
    return StreamLine(
        match["id"],
        start,
        exact if abs(exact - end) <= CSV_ROUNDING_S else end,
        amount,
        rate,
        jitter=float(match["jitter"]) / 1000 if is_received else None,
        lost=int(match["lost"]) if is_received else None,
        total=int(match["total"]) if is_received else None,
    )


def _finals(lines: Sequence[StreamLine]) -> list[StreamLine]:
    """Return of each stream the line that covers the most time from the start, the last of equals."""
    best: dict[str, StreamLine] = {}
    for line in lines:
        if line.start == 0 and (line.stream not in best or line.end >= best[line.stream].end):
            best[line.stream] = line
    return list(best.values())
