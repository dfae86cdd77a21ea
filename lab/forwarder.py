"""A long link in user space, for machines without a C compiler: the same arguments and behaviour as forwarder.c.

``forwarder.py IFA IFB RATE_MBIT DELAY_US QUEUE_BYTES LOSS SEED OVERHEAD PARENT``; forwarder.c says what they mean.
Run by path, with the standard library only. Each direction is a process of its own, so that neither waits for the
other's lock.
"""

import ctypes
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import time
from collections import deque
from types import FrameType

_USAGE = "usage: forwarder IFA IFB RATE_MBIT DELAY_US QUEUE_BYTES LOSS SEED OVERHEAD PARENT\n"
_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001
_IFREQ = struct.Struct("15sxH14x")
_PR_SET_PDEATHSIG = 1
_PR_SET_TIMERSLACK = 29
_MAX_PACKET = 65536
_BATCH = 64
_IDLE_NS = 100_000_000


# Filled by the signal that ends the program: the loop looks at it between packets, so that no count is torn.
_stopped_by: list[int] = []


class Dice:
    """The erand48 of C, so that one seed loses the same packets in both emulators (POSIX drand48: a 48-bit LCG)."""

    def __init__(self, seed: int, direction: int) -> None:
        self._state = 7 << 32 | direction << 16 | seed

    def roll(self) -> float:
        """Return the next number in [0, 1)."""
        self._state = (0x5DEECE66D * self._state + 0xB) & 0xFFFF_FFFF_FFFF
        return self._state / (1 << 48)


class Direction:
    """One direction of the link: packets from one TUN device to the other, times in nanoseconds."""

    def __init__(
        self, name: str, *, rate_bps: float, delay_ns: int, queue: int, loss: float, dice: Dice, overhead: int
    ) -> None:
        self.name = name
        self._ns_per_byte = 8e9 / rate_bps
        self._delay = delay_ns
        self._queue = queue
        self._loss = loss
        self._dice = dice
        self._overhead = overhead
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._line_free = 0
        self.packets = self.bytes = self.tail_drops = self.losses = self.longest_queue = 0

    def carry(self, source: int, sink: int) -> None:
        """Carry packets until a signal ends it."""
        while not _stopped_by:
            self._send_due(sink)
            if not self._take_in(source):
                self._wait_for_work(source)

    def _send_due(self, sink: int) -> None:
        moment = time.monotonic_ns()
        while self._waiting and self._waiting[0][0] <= moment:
            packet = self._waiting.popleft()[1]
            try:
                os.write(sink, packet)
            except OSError:
                continue  # A device that is down or being moved loses the packet, as an unplugged line would.
            self.packets += 1
            self.bytes += len(packet)

    def _take_in(self, source: int) -> int:
        for count in range(_BATCH):
            try:
                packet = os.read(source, _MAX_PACKET)
            except OSError as error:
                # The device is gone, and with it the link: there is nothing to wait for, and select would not wait.
                if error.errno == errno.EBADFD:
                    _stopped_by.append(error.errno)
                return count
            self._queue_packet(packet)
        return _BATCH

    def _queue_packet(self, packet: bytes) -> None:
        if self._loss and self._dice.roll() < self._loss:
            self.losses += 1
            return
        moment = time.monotonic_ns()
        self._line_free = max(self._line_free, moment)
        backlog = int((self._line_free - moment) / self._ns_per_byte)
        self.longest_queue = max(self.longest_queue, backlog)
        if backlog + len(packet) > self._queue:
            self.tail_drops += 1
            return
        self._line_free += int((len(packet) + self._overhead) * self._ns_per_byte)
        self._waiting.append((self._line_free + self._delay, packet))

    def _wait_for_work(self, source: int) -> None:
        pause = _IDLE_NS
        if self._waiting:
            pause = min(pause, max(0, self._waiting[0][0] - time.monotonic_ns()))
        select.select([source], [], [], pause / 1e9)

    def report(self) -> str:
        """Return the line that is printed at the end."""
        return (
            f"{self.name}: {self.packets} packets, {self.bytes} bytes, {self.tail_drops} dropped from a full queue, "
            f"{self.losses} lost at random, longest queue {self.longest_queue} B"
        )


def _open_tun(name: str) -> int:
    path = "/dev/net/tun"
    try:
        tun = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        path = name
        fcntl.ioctl(tun, _TUNSETIFF, _IFREQ.pack(name.encode(), _IFF_TUN_NO_PI))
    except OSError as error:
        raise SystemExit(_fail(1, f"{path}: {error.strerror}")) from error
    return tun


def _fail(status: int, text: str) -> int:
    sys.stderr.write(f"forwarder: {text}\n")
    return status


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise SystemExit(_fail(2, f"{name} must be a number from {least:g} to {most:g}, not '{text}'"))
    return value


def _leash_to(parent: int) -> None:
    if not parent:
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(_fail(1, f"the process {parent} that it should die with is not its parent"))


def _stop(number: int, frame: FrameType | None) -> None:
    _stopped_by.append(number)


def main(arguments: list[str]) -> int:
    """Carry packets both ways until SIGTERM or SIGINT; return the exit status."""
    if len(arguments) != 9:
        sys.stderr.write(_USAGE)
        return 2
    rate = _number("RATE_MBIT", arguments[2], 0.001, 1e6)
    delay = _number("DELAY_US", arguments[3], 0, 1e7)
    queue = _number("QUEUE_BYTES", arguments[4], 1, 1e9)
    loss = _number("LOSS", arguments[5], 0, 1)
    seed = int(_number("SEED", arguments[6], 0, 65535))
    overhead = int(_number("OVERHEAD", arguments[7], 0, 1000))
    _leash_to(int(_number("PARENT", arguments[8], 0, 1e9)))
    # A direction that ends takes the other with it: half a link is none.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, _stop)
    tuns = (_open_tun(arguments[0]), _open_tun(arguments[1]))

    line = f"{rate:g} Mbit/s, {delay:g} us one way, queue {queue:g} B, loss {loss:g}"
    print(f"ready: process {os.getpid()}, {line}", flush=True)
    first = os.getpid()
    child = os.fork()
    way = 0 if child else 1
    if not child:
        _leash_to(first)
    # The default slack of 50 us would show in the RTT.
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    direction = Direction(
        ("A->B", "B->A")[way],
        rate_bps=rate * 1e6,
        delay_ns=int(delay * 1000),
        queue=int(queue),
        loss=loss,
        dice=Dice(seed, way),
        overhead=overhead,
    )
    direction.carry(tuns[way], tuns[1 - way])
    print(direction.report(), flush=True)
    if child:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
