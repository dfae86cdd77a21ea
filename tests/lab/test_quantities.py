import pytest

from lab.quantities import format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1 Gbit/s", "rate", 1e9),
        ("457Mbit/s", "rate", 457e6),
        ("4.8 ms", "duration", 0.0048),
        ("2270 us", "duration", 0.00227),
        ("2270 µs", "duration", 0.00227),
        ("0 s", "duration", 0.0),
        ("4 MB", "size", 4e6),
        ("64 KiB", "size", 65536.0),
    ],
)
def test_it_reads_a_quantity_in_base_units(text: str, kind: str, value: float) -> None:
    assert parse_quantity(text, kind) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "1", "Gbit/s", "1 Gbps", "-1 Gbit/s", "1 ms", "1 Gbit/s s", 5, None, ["1 Gbit/s"]]
)
def test_it_says_how_a_quantity_is_written(text: object) -> None:
    with pytest.raises(ValueError, match="write a number and one of bit/s, kbit/s, Mbit/s, Gbit/s"):
        parse_quantity(text, "rate")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1e9, "rate", "1 Gbit/s"),
        (457e6, "rate", "457 Mbit/s"),
        (0.0048, "duration", "4.8 ms"),
        (0.1355, "duration", "135.5 ms"),
        (0.00005, "duration", "50 us"),
        (0.0, "duration", "0 us"),
        (4e6, "size", "4 MB"),
    ],
)
def test_it_shows_a_quantity_in_a_fitting_unit(value: float, kind: str, text: str) -> None:
    assert format_quantity(value, kind) == text
