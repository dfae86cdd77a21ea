"""How fast the pages answer with ten million samples in the archive, beside the same pages with a small one."""

import json
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stack import Stack
from benchmarks.throughput import module_output

SAMPLES = 10_000_000
MOST_QUERIES = 30


def measure(stack: Stack) -> Iterator[Figure]:
    """Yield each page's 95th percentile (s) over the large archive, the slowest first."""
    archive = json.loads(module_output(stack, "benchmarks.archive", str(SAMPLES)))
    pages = sorted(archive["pages"].items(), key=lambda item: -item[1]["large"])
    for name, page in pages:
        yield Figure(
            f"“{name}” with {archive['samples']:,} samples, 95th percentile", page["large"], "s",
            "the same page with a small archive", page["small"], "below 0.5 s",
            # A page is as slow as the machine that it was asked of.
            note=f"{page['queries']} queries of {MOST_QUERIES} at most; a million additions {page['loop']:.3f} s",
        )  # fmt: skip
