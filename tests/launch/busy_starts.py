"""What starts slowly because it gets little of a processor: of its own will, so that no test needs more of one."""

from pathlib import Path


def code(there: Path, *, for_s: float) -> str:
    """Return a program that works now and then for so long, makes a file, and only waits from then on."""
    return f"""
import pathlib, time
ends = time.monotonic() + {for_s}
while time.monotonic() < ends:
    used = time.process_time() + 0.03
    while time.process_time() < used: pass
    time.sleep(0.1)
pathlib.Path({str(there)!r}).touch()
time.sleep(600)
"""
