"""Processes that the kernel holds, as a wait of its own would: they do nothing, and are not stopped by a signal.

    with held([pid, ...]): ...

A process of its own holds them, for a parent that holds its child takes what it hears of that for its end.
"""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_SEIZE, _INTERRUPT = 0x4206, 0x4207
_OF_A_THREAD = 0x40000000
_HELD = "held"


@contextmanager
def held(pids: Sequence[int]) -> Iterator[None]:
    """Have all threads of processes held by a tracer (state t) until they are killed or the block ends.

    Skips the test if the kernel refuses.
    """
    argv = [sys.executable, __file__, *map(str, pids)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tracer:
        assert tracer.stdin and tracer.stdout
        try:
            told = tracer.stdout.readline().strip()
            if told != _HELD:
                pytest.skip(f"the kernel lets nobody be held: {told}")
            yield
        finally:
            # What it holds is let go by its end.
            tracer.kill()


def _hold(pids: Sequence[int]) -> None:
    threads = [int(thread.name) for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
    if any(_ptrace(_SEIZE, thread) or _ptrace(_INTERRUPT, thread) for thread in threads):
        sys.exit(print(os.strerror(ctypes.get_errno())))
    print(_HELD, flush=True)
    while True:
        # One that was killed has ended for its parent only once its tracer has seen it.
        for thread in threads:
            with suppress(ChildProcessError):
                os.waitpid(thread, _OF_A_THREAD | os.WNOHANG)
        time.sleep(0.1)


def _ptrace(request: int, thread: int) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes, library.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long
    return int(library.ptrace(request, thread, 0, 0))


if __name__ == "__main__":
    _hold([int(pid) for pid in sys.argv[1:]])
