"""Read what `ss -tmin` (iproute2) says of TCP sockets, from any of its versions, with or without a heading."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Words without a value that stand before the congestion control's name.
_OPTIONS = {"ts", "sack", "ecn", "ecnseen", "fastopen"}
_FACTORS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_RATE = re.compile(r"\b(send|pacing_rate|delivery_rate) (\d+(?:\.\d+)?)([KMGT]?)bps")
_PAIR = re.compile(r"(?:^|\s)([a-z_]+):([^\s()]+)")
_MEMORY = re.compile(r"skmem:\(([^()]{0,400})\)")
_AMOUNT = re.compile(r"(?<![a-z])([a-z]{1,8})(\d{1,18})")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Beyond what a connection can have counted, or waited (ms): such a figure is damage.
_MOST = 1e18
# What a kernel says of one connection has some 700 letters: more is damage.
LONGEST_ENTRY = 10_000


@dataclass(frozen=True)
class Socket:
    """One connection as its kernel sees it; times in s, sizes in bytes, rates in bit/s, None where not said.

    Of `busy_s`, in which there was something to send, the connection waited `receiver_limited_s` for the receiver's
    window and `buffer_limited_s` for room in its own send buffer; the rest of it the congestion window set the pace
    (tcp_info: tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited).
    """

    local: str
    peer: str
    state: str
    congestion: str = ""
    send_queue: int = 0
    mss: int | None = None
    pmtu: int | None = None
    rtt_s: float | None = None
    min_rtt_s: float | None = None
    congestion_window: int | None = None
    send_window: int | None = None
    receive_space: int | None = None
    send_buffer: int | None = None
    receive_buffer: int | None = None
    bytes_sent: int = 0
    bytes_received: int = 0
    bytes_retransmitted: int = 0
    retransmits: int = 0
    busy_s: float = 0.0
    receiver_limited_s: float = 0.0
    buffer_limited_s: float = 0.0
    delivery_bps: float | None = None
    pacing_bps: float | None = None


@dataclass(frozen=True)
class SocketListing:
    """The sockets of a job at one moment, `at` s after its start; `left_out` more are not told of."""

    at: float
    sockets: tuple[Socket, ...]
    left_out: int = 0


def read_sockets(text: str) -> tuple[Socket, ...]:
    """Return the sockets of a listing; lines that are none, and figures that are damaged, are left out."""
    sockets = []
    entry: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line[:1].isspace():
            entry.append(line)
            continue
        if entry and (socket := _socket(" ".join(entry))):
            sockets.append(socket)
        entry = [line]
    return tuple(sockets)


def _socket(text: str) -> Socket | None:
    if len(text) > LONGEST_ENTRY:
        return None
    words = text.split()
    if len(words) < 5 or words[0] == "State" or not (words[1].isdecimal() and words[2].isdecimal()):
        return None
    fields = dict(_PAIR.findall(text))
    memory = {name: int(value) for block in _MEMORY.findall(text)[:1] for name, value in _AMOUNT.findall(block)}
    rates = {
        name: rate for name, value, prefix in _RATE.findall(text) if (rate := float(value) * _FACTORS[prefix]) < _MOST
    }
    mss = _whole(fields, "mss")
    segments = _whole(fields, "cwnd")
    window = segments * mss if segments is not None and mss is not None else None
    acked, sent_bytes = _whole(fields, "bytes_acked"), _whole(fields, "bytes_sent")
    return Socket(
        local=words[3],
        peer=words[4],
        state=words[0],
        congestion=_congestion(text),
        send_queue=min(int(words[2][:18]), int(_MOST) - 1),
        mss=mss,
        pmtu=_whole(fields, "pmtu"),
        rtt_s=_milliseconds(fields, "rtt"),
        min_rtt_s=_milliseconds(fields, "minrtt"),
        congestion_window=window if window is None or window < _MOST else None,
        send_window=_whole(fields, "snd_wnd"),
        receive_space=_whole(fields, "rcv_space"),
        send_buffer=memory.get("tb"),
        receive_buffer=memory.get("rb"),
        # Before Linux 4.19 only what was acknowledged is told.
        bytes_sent=sent_bytes if sent_bytes is not None else acked or 0,
        bytes_received=_whole(fields, "bytes_received") or 0,
        bytes_retransmitted=_whole(fields, "bytes_retrans") or 0,
        retransmits=_retransmits(fields),
        busy_s=_milliseconds(fields, "busy") or 0.0,
        receiver_limited_s=_milliseconds(fields, "rwnd_limited") or 0.0,
        buffer_limited_s=_milliseconds(fields, "sndbuf_limited") or 0.0,
        delivery_bps=rates.get("delivery_rate"),
        pacing_bps=rates.get("pacing_rate"),
    )


def _number(fields: Mapping[str, str], name: str) -> float | None:
    """Return the number that a value begins with, such as 4.695 of "4.695/1.324"."""
    match = _NUMBER.match(fields.get(name, ""))
    value = float(match.group()) if match else None
    return value if value is not None and value < _MOST else None


def _whole(fields: Mapping[str, str], name: str) -> int | None:
    value = _number(fields, name)
    return int(value) if value is not None else None


def _milliseconds(fields: Mapping[str, str], name: str) -> float | None:
    value = _number(fields, name)
    return value / 1000 if value is not None else None


def _retransmits(fields: Mapping[str, str]) -> int:
    """Return the second number of "retrans:0/12": those since the beginning."""
    total = fields.get("retrans", "").partition("/")[2]
    return int(total[:18]) if total.isdecimal() else 0


def _congestion(text: str) -> str:
    """Return the congestion control: the last bare word after the buffers and before the first named value."""
    after = _MEMORY.split(text, maxsplit=1)[-1] if _MEMORY.search(text) else " ".join(text.split()[5:])
    name = ""
    for word in after.split():
        if ":" in word:
            break
        if word not in _OPTIONS and re.fullmatch(r"[a-z][a-z0-9_-]{1,15}", word):
            name = word
    return name
