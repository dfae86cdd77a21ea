"""nuttcp's report, brief or verbose, as text or as key=value; its MB are 2^20 B, its Mbps 10^6 bit/s."""

import math
import re
from dataclasses import dataclass, field

_NUMBER = r"(\d{1,15}(?:\.\d{1,6})?)"
_TEXT = re.compile(rf"^ *{_NUMBER} MB / +{_NUMBER} sec = +{_NUMBER} Mbps(?P<rest>[^\n]*)$", re.M)
_KEYS = re.compile(r"^(?:nuttcp-(?P<side>[tr]): )?(?P<pairs>[A-Za-z_]+=[^ \n]+(?: [A-Za-z_]+=[^ \n]+)* ?)$", re.M)
_PAIR = re.compile(rf"([A-Za-z_]+)={_NUMBER}(?:%)?(?: |$)")
# Verbose: a line for each side, and what else it says of the connection in words.
_VERBOSE = re.compile(
    rf"^nuttcp-(?P<side>[tr]): {_NUMBER} MB in {_NUMBER} real seconds = {_NUMBER} KB/sec = {_NUMBER} Mbps$", re.M
)
_SIDE = r"^nuttcp-(?P<side>[tr]): (?:[^\n]*, ?)?"
_WORDS = {
    "retrans": re.compile(rf"{_SIDE}retrans = {_NUMBER}$", re.M),
    "mss": re.compile(rf"{_SIDE}connect to \S+ with mss={_NUMBER}", re.M),
    "rtt_ms": re.compile(rf"{_SIDE}connect to \S+ with mss=\d+, RTT={_NUMBER} ms", re.M),
    "send_window_size": re.compile(rf"{_SIDE}send window size = {_NUMBER}", re.M),
    "receive_window_size": re.compile(rf"{_SIDE}(?:send window size = \d+, )?receive window size = {_NUMBER}$", re.M),
    "drop": re.compile(rf"{_SIDE}{_NUMBER} / +\d+ drop/pkt", re.M),
    "pkt": re.compile(rf"{_SIDE}\d+ / +{_NUMBER} drop/pkt", re.M),
}
_LENGTH = re.compile(r"^nuttcp-[tr]: buflen=(\d{1,12})\b", re.M)
_VERSION = re.compile(r"^nuttcp-[tr]: v(\d[\w.]{0,20}): socket$", re.M)
_CPU = re.compile(r"^nuttcp-(?P<side>[tr]): (?:stats=cpu .*?cpu=|[\d.]+user [\d.]+sys \S+real )(\d{1,5})%", re.M)
_REST = {
    "tx_cpu": re.compile(rf"{_NUMBER} %TX"),
    "rx_cpu": re.compile(rf"{_NUMBER} %RX"),
    "retrans": re.compile(rf"{_NUMBER} retrans"),
    "rtt_ms": re.compile(rf"{_NUMBER} msRTT"),
    "drop": re.compile(rf"{_NUMBER} / +\d+ drop/pkt"),
    "pkt": re.compile(rf"/ +{_NUMBER} drop/pkt"),
}


@dataclass
class NuttcpReport:
    """The receiver's figures (MiB, s, bit/s), the sender's rate, and the rest as far as it is there."""

    results: int = 0
    megabytes: float | None = None
    seconds: float | None = None
    rate_bps: float | None = None
    sent_bps: float | None = None
    retransmits: float | None = None
    packets: float | None = None
    dropped: float | None = None
    rtt: float | None = None
    mss: float | None = None
    length: float | None = None
    send_buffer: float | None = None
    receive_buffer: float | None = None
    cpu_sender: float | None = None
    cpu_receiver: float | None = None
    intervals: list[tuple[float, float]] = field(default_factory=list)
    version: str = ""


def read_report(text: str) -> NuttcpReport:
    """Return what a text tells, nothing of it checked."""
    report = NuttcpReport()
    both: dict[str, dict[str, float]] = {"t": {}, "r": {}, "": {}}
    for side, figures, is_total in _records(text):
        if "megabytes" not in figures:
            both[side] |= figures
        elif is_total and "rate_Mbps" in figures:
            both[side] |= figures
            report.results += side != "t"
        elif not side and "rate_Mbps" in figures:
            before = report.intervals[-1][0] if report.intervals else 0.0
            report.intervals.append((before + figures.get("real_sec", 0.0), figures["rate_Mbps"] * 1e6))
    sender, receiver, brief = both["t"], both["r"], both[""]
    final = receiver if "rate_Mbps" in receiver else brief
    report.megabytes, report.seconds = final.get("megabytes"), final.get("real_seconds")
    report.rate_bps, report.sent_bps = _mega(final.get("rate_Mbps")), _mega(sender.get("rate_Mbps"))
    report.retransmits = sender.get("retrans", brief.get("retrans"))
    report.packets, report.dropped = final.get("pkt"), final.get("drop")
    rtt = sender.get("rtt_ms", brief.get("rtt_ms"))
    report.rtt = rtt / 1000 if rtt is not None else None
    report.mss = sender.get("mss")
    length = _LENGTH.search(text)
    report.length = float(length[1]) if length else None
    report.send_buffer, report.receive_buffer = sender.get("send_window_size"), receiver.get("receive_window_size")
    loads = {match["side"]: float(match[2]) for match in _CPU.finditer(text)}
    report.cpu_sender, report.cpu_receiver = loads.get("t", brief.get("tx_cpu")), loads.get("r", brief.get("rx_cpu"))
    version = _VERSION.search(text)
    report.version = version[1] if version else ""
    return report


def _records(text: str) -> list[tuple[str, dict[str, float], bool]]:
    """Return (side, figures, whether they are of the whole test) of each line, in the order of the text."""
    records: list[tuple[int, str, dict[str, float], bool]] = []
    for line in _KEYS.finditer(text):
        figures = {key: float(value) for key, value in _PAIR.findall(line["pairs"])}
        records.append((line.start(), line["side"] or "", figures, "real_seconds" in figures))
    for line in _VERBOSE.finditer(text):
        figures = {"megabytes": float(line[2]), "real_seconds": float(line[3]), "rate_Mbps": float(line[5])}
        records.append((line.start(), line["side"], figures, True))
    for key, pattern in _WORDS.items():
        records += [(line.start(), line["side"], {key: float(line[2])}, False) for line in pattern.finditer(text)]
    lines = list(_TEXT.finditer(text))
    for line in lines:
        rest = {key: float(match[1]) for key, pattern in _REST.items() if (match := pattern.search(line["rest"]))}
        # Interval lines say nothing of the processors.
        is_total = "tx_cpu" in rest
        figures = {"megabytes": float(line[1]), "rate_Mbps": float(line[3]), **rest}
        figures["real_seconds" if is_total else "real_sec"] = float(line[2])
        records.append((line.start(), "", figures, is_total))
    records.sort(key=lambda record: record[0])
    return [(side, figures, is_total) for _position, side, figures, is_total in records]


def _mega(value: float | None) -> float | None:
    return value * 1e6 if value is not None and math.isfinite(value) else None
