"""Read a line {"chart", "ending", "most_s"} for each figure from the standard input; write them one after the other.

Before each figure stands its length in bytes, a whole number of eight bytes, the highest first. Of one that takes
more than `most_s` of a processor, or too much memory, it is 0, and nothing more is drawn.
"""

import io
import json
import resource
import sys
from typing import Any

from apps.comparison.figures.program import boxes, cells, lines, look, parallel
from apps.core import cpu_time

# What all figures of one program take of memory (B): the largest one that is let through, twice and more.
MOST_MEMORY = 2 << 30
# Whole numbers of so many signs have room in 64 bits.
MOST_DIGITS = 18
DRAW = {"line": lines.draw, "heat": cells.draw, "box": boxes.draw, "parallel": parallel.draw}


def main() -> None:
    """Draw the figures."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in sys.stdin.buffer:
        request = read(line)
        try:
            with cpu_time.limited(request["most_s"]):
                drawn = draw(request["chart"], request["ending"])
        except (cpu_time.OutOfTimeError, MemoryError):
            drawn = b""
        sys.stdout.buffer.write(len(drawn).to_bytes(8) + drawn)
        sys.stdout.buffer.flush()
        if not drawn:
            return


def read(line: bytes) -> Any:
    """Return what a line holds, without whole numbers too wide for numpy: a browser writes 1e20 in digits."""
    return json.loads(line, parse_int=lambda digits: int(digits) if len(digits) <= MOST_DIGITS else float(digits))


def draw(chart: dict[str, object], ending: str) -> bytes:
    """Return one figure as a file."""
    figure, out = look.figure_for(chart), io.BytesIO()
    DRAW[str(chart.get("kind", "line"))](figure, chart)
    # The same data gives the same file.
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    figure.savefig(out, format=ending, dpi=look.DPI, metadata=metadata)
    return out.getvalue()


if __name__ == "__main__":
    main()
