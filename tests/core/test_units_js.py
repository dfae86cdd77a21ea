"""The browser shows quantities to the digit as the server does."""

import json

from apps.bench import units
from tests.core import javascript

VALUES = {
    "B": [0, 1, 68, 1500, 9000, 10_000, 10_240, 65536, 65537, 1 << 20, 1_572_864, 600_000, 5 * 2**40, 123_456_789],
    "bit/s": [0, 1, 999, 1000, 1_000_000, 941_482_907, 983_000_000, 999_960_000, 10**10, 1.5, 941e6 / 3, 12345.678],
    "B/s": [0, 125_000_000, 117_647_058.8],
    "s": [0, 1, 59, 60, 90, 5400, 100_000, 0.0048, 0.00481234, 59.996, 61.3, 1e-6, 3.2e-9, 1e-12, 0.9996, 12.34],
    "fraction": [0, 1, 0.327, 0.29, 0.99987, 1.4, 0.000123, 3e-9, 12.5],
    "%": [0, 0.5, 33.333_33, 100, 99.99],
    "count": [0, 3, 1234567, 2.5],
    "hops": [4, 0.00001],
}  # fmt: skip


def in_javascript(expression: str, pairs: list[tuple[float | str | None, str]]) -> list[str]:
    return javascript.run(f"done({json.dumps(pairs)}.map(([v, u]) => {expression}));", "units.js")


def test_every_quantity_reads_the_same_on_both_sides() -> None:
    pairs = [(value, unit) for unit, values in VALUES.items() for value in values]
    pairs += [(-value, unit) for value, unit in pairs if value]
    # JSON has one kind of number: whole ones are shown as whole ones.
    expected = [
        units.format_quantity(int(value) if float(value).is_integer() else value, unit) for value, unit in pairs
    ]
    shown = in_javascript("formatQuantity(v, u)", pairs)
    assert dict(zip(pairs, shown, strict=True)) == dict(zip(pairs, expected, strict=True))


def test_what_is_no_number_is_shown_as_it_is() -> None:
    assert in_javascript("formatQuantity(v, u)", [(None, "B"), ("cubic", "B")]) == ["–", "cubic"]


def test_ticks_have_no_padding() -> None:
    pairs = [
        (0.004, "s"),
        (1.2e9, "bit/s"),
        (0.1 + 0.2, "s"),
        (1e9, "bit/s"),
        (2**20, "B"),
        (100, "count"),
        (30, "s"),
    ]
    assert in_javascript("formatTick(v, u)", pairs) == [
        "4 ms", "1.2 Gbit/s", "300 ms", "1 Gbit/s", "1 MiB", "100", "30 s",
    ]  # fmt: skip
