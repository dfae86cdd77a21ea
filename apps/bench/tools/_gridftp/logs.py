"""The transfer log of a GridFTP server (-Z): what was moved when, to the microsecond, and with which buffer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.toolkit import Output
from apps.bench.tools._gridftp.layout import LOG

RECEIVING = ("STOR", "ESTO")
SENDING = ("RETR", "ERET")
COMPLETE = 226

_LINE = re.compile(r"DATE=\d{14}\.\d{1,6} [^\n]*?NL\.EVNT=FTP_INFO [^\n]*")
_PAIR = re.compile(r"([A-Za-z.]{1,20})=(\[[^\]\n]*\]|\S*)")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{1,6})")
_NUMBER = re.compile(r"\d{1,18}")
_BROKEN = re.compile(r"Child process \d+ killed by signal")


@dataclass(frozen=True)
class LoggedTransfer:
    """One line of the log: times in s since the epoch on the server's clock, sizes in B.

    `retransmits` are the segments sent again on each stream, empty if the server does not tell.
    """

    start: float
    end: float
    moved: int
    kind: str
    code: int
    buffer: int
    block: int
    streams: int
    stripes: int
    retransmits: tuple[int, ...]
    path: str


def read_log(text: str) -> list[LoggedTransfer]:
    """Return the transfers that a log tells of; a line that is damaged is left out."""
    transfers = (_read_line(line[0]) for line in _LINE.finditer(text))
    return [transfer for transfer in transfers if transfer]


def log_of(output: Output) -> list[LoggedTransfer]:
    """Return the transfers in the log that a server's work folder held."""
    return read_log(output.collected.get(LOG, b"").decode("utf-8", "replace"))


def broken_sessions(output: Output) -> int:
    """Return how many of a server's sessions were cut off, as it says itself, or ended with an error."""
    text = output.stderr.decode("utf-8", "replace")
    failed = sum(transfer.code != COMPLETE for transfer in log_of(output))
    return len(_BROKEN.findall(text)) + failed


def arrived(transfers: Sequence[LoggedTransfer]) -> list[LoggedTransfer]:
    """Return the complete transfers of the receiver's log, or of the sender's if there is no other."""
    return _whole_ones(transfers, RECEIVING) or _whole_ones(transfers, SENDING)


def sent(transfers: Sequence[LoggedTransfer]) -> list[LoggedTransfer]:
    """Return the complete transfers of the sender's log."""
    return _whole_ones(transfers, SENDING)


def _whole_ones(transfers: Sequence[LoggedTransfer], kinds: Sequence[str]) -> list[LoggedTransfer]:
    return [t for t in transfers if t.kind in kinds and t.code == COMPLETE and t.moved]


def _read_line(line: str) -> LoggedTransfer | None:
    words = dict(_PAIR.findall(line))
    start, end = _seconds(words.get("START", "")), _seconds(words.get("DATE", ""))
    numbers = [_whole(words.get(name, "")) for name in ("NBYTES", "CODE", "BUFFER", "BLOCK", "STREAMS", "STRIPES")]
    if start is None or end is None or end < start or any(number is None for number in numbers):
        return None
    amount, code, buffer, block, streams, stripes = (number or 0 for number in numbers)
    again = words.get("retrans", "").split(",")
    return LoggedTransfer(
        start=start,
        end=end,
        moved=amount,
        kind=words.get("TYPE", ""),
        code=code,
        buffer=buffer,
        block=block,
        streams=streams,
        stripes=stripes,
        retransmits=tuple(int(word) for word in again) if all(_NUMBER.fullmatch(word) for word in again) else (),
        path=words.get("FILE", ""),
    )


def _whole(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _seconds(text: str) -> float | None:
    """Return a time such as 20261121080504.998195 in s since 1970, by the days of the Gregorian calendar."""
    match = _STAMP.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(value) for value in match.groups()[:6])
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    # Years begin in March here, so that the leap day is a year's last.
    shifted = year - (month < 3)
    days = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day
    return (days - 719_469) * 86_400 + hour * 3600 + minute * 60 + second + int(match[7]) / 10 ** len(match[7])
