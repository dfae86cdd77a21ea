"""How long the report of a campaign takes, built, as a page and as PDF/A, beside a plain list of the same trials."""

import json
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stack import Stack
from benchmarks.throughput import module_output

# Trials, and within how many seconds their report is to be there.
LIMITS = {1_000: 15, 10_000: 60}


def measure(stack: Stack) -> Iterator[Figure]:
    """Yield the time (s) of each campaign's report, with the memory that it took."""
    for trials, limit_s in LIMITS.items():
        report = json.loads(module_output(stack, "benchmarks.reports", str(trials)))
        parts = ", ".join(f"{name} {report[name]:.2g} s" for name in ("building", "page", "pdf"))
        yield Figure(
            f"report of {report['trials']:,} trials: built, as a page and as PDF/A", report["all"], "s",
            "the same trials as a list, read and written", report["plain"], f"below {limit_s} s",
            note=f"{parts}; {report['signs']} signs of progress; at most {report['own_bytes'] / 1e6:.0f} MB here and "
            f"{report['program_bytes'] / 1e6:.0f} MB in the program that sets it; {report['size'] / 1e6:.2g} MB",
        )  # fmt: skip
