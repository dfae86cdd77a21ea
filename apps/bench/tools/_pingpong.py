"""Reading ping-pong tables of NetPIPE and of mpi4py's own benchmark: {message size (B): (time (s), rate (B/s))}."""

import math
import re

from apps.bench.outputs import launchers, texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output

Table = dict[int, tuple[float, float]]

# NetPIPE counts 2^20 bits as a megabit.
MEBIBIT_BYTES = 2**20 / 8
# It writes a row in two pieces; the launcher may put lines of its own between them: "[node:4711] 1 more process …".
NETPIPE = re.compile(
    r"^ *\d{1,6}: +(\d{1,12}) bytes +(\d{1,12}) times --> (?:\[[\w.-]{1,64}:\d{1,10}\] [^\n]{0,400}\n){0,20}"
    r" *(\d{1,12}\.\d{1,6}) Mbps in +(\d{1,12}\.\d{1,6}) usec *$",
    re.M,
)
MPI4PY = re.compile(
    r"^ *(\d{1,12}) +(\d{1,12}\.\d{1,6}) \| (\d\.\d{1,12}e[+-]\d{2}) ± +(\d\.\d{1,12}e[+-]\d{2}) +(\d{1,12})$", re.M
)
MPI4PY_TITLE = re.compile(r"^# MPI PingPong Test\n# Size \[B\]", re.M)


def read_netpipe(output: Output) -> Table:
    """Return NetPIPE's table.

    The time is half of a round trip. Both figures are printed with two decimals: the one of more digits is taken,
    which is the rate of long or fast messages and the time of short or slow ones, whose rate is printed as 0.00.
    """
    text = texts.read_text(output)
    rows = NETPIPE.findall(text)
    if not rows:
        raise launchers.why_none(output, text)
    table: Table = {}
    for size, _times, rate, time in rows:
        length, seconds, speed = int(size), float(time) * 1e-6, float(rate) * MEBIBIT_BYTES
        if not speed and seconds and length / seconds < 0.006 * MEBIBIT_BYTES:
            speed = length / seconds
        has_finer_rate = bool(speed) and float(rate) > float(time)
        _add(output, table, length, seconds, speed, exact=length / speed if has_finer_rate else seconds)
    return table


def read_mpi4py(output: Output) -> Table:
    """Return the table of ``python -m mpi4py.bench pingpong``: MB are 10^6 bytes, times are half round trips."""
    text = texts.read_text(output)
    rows = MPI4PY.findall(text)
    if not rows or not MPI4PY_TITLE.search(text):
        raise launchers.why_none(output, text)
    table: Table = {}
    for size, rate, mean, _deviation, _samples in rows:
        _add(output, table, int(size), float(mean), float(rate) * 1e6, exact=float(mean))
    return table


def _add(output: Output, table: Table, size: int, time: float, rate: float, *, exact: float) -> None:
    """Put a row in by its exact time (s); both figures are rounded, and must tell the same within that."""
    if size in table or not size or not 0 < exact < math.inf or not 0 < rate < math.inf:
        raise failure("unreadable", output)
    # Half a unit of the last printed digit: 0.005 us of NetPIPE's times, 0.005 MB/s of mpi4py's rates.
    if abs(size / rate - time) > 0.006e-6 + 0.02 * time + 0.006e6 * time / rate:
        raise failure("contradictory", output, first=f"{time:g} s", second=f"{rate:g} B/s")
    table[size] = (exact, size / exact)
