"""How fast ten million samples leave in each form, beside PostgreSQL's own COPY of them."""

import json
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stack import Stack
from benchmarks.throughput import module_output

SAMPLES = 10_000_000


def measure(stack: Stack) -> Iterator[Figure]:
    """Yield the rate (samples/s) of each form, then the memory it took and the time of a campaign's archive."""
    rates = json.loads(module_output(stack, "benchmarks.exports", str(SAMPLES)))
    samples = rates["samples"]
    for name, export in rates["exports"].items():
        yield Figure(
            f"{samples:,} samples, {name}", samples / export["s"], "samples/s",
            "COPY of the table of samples to CSV", samples / export["copy_s"], "ratio of at least 0.33",
            note=f"{export['bytes'] / 1e6:,.0f} MB in {export['s']:.3g} s",
        )  # fmt: skip
    yield Figure(
        f"most memory while {samples:,} samples left", rates["peak_bytes"] / 1e6, "MB", "nothing", target="bounded"
    )
    whole = rates["archive"]
    yield Figure(
        f"archive of a campaign of {whole['trials']:,} trials", whole["s"], "s", "nothing",
        note=f"{whole['bytes'] / 1e6:.3g} MB",
    )  # fmt: skip
