"""What an experiment varied, in a line of the archive: with units, long lists shortened, nothing that breaks it."""

from typing import Any

import pytest

from apps.archive.search.lines import LONGEST_TEXT, varied_of
from apps.bench import tools
from apps.campaigns.models import Experiment


def shown(name: str, expression: str, tool: str | None = "iperf3-tcp", **values: Any) -> tuple[str, str]:
    experiment = Experiment(factors=[{"name": name, "expression": expression}], **values)
    [found] = varied_of(experiment, tools.get(tool) if tool else None)
    return found


@pytest.mark.parametrize(
    ("tool", "name", "expression", "text"),
    [
        ("iperf3-udp", "rate", "400000000", "400 Mbit/s"),
        ("iperf3-udp", "rate", "400000000, 400000000, 1500000000", "400 Mbit/s, 1.5 Gbit/s"),
        ("iperf3-tcp", "window", "65536, 1048576", "64 KiB, 1 MiB"),
        ("iperf3-tcp", "window", "16KiB..4MiB x2", "16 KiB … 4 MiB (9)"),
        # The ends are those of the values, in whatever order they were written.
        ("iperf3-tcp", "window", "1MiB, 2MiB, 64KiB, 8MiB, 128KiB", "64 KiB … 8 MiB (5)"),
        ("iperf3-tcp", "window", "0, 64KiB..1MiB x2", "autotuned, 64 KiB … 1 MiB (5)"),
        ("iperf3-tcp", "streams", "1, 2, 4, 8", "1, 2, 4, 8"),
        ("iperf3-tcp", "streams", "1..100", "1 … 100 (100)"),
        ("iperf3-tcp", "duration", "2 s, 90 s", "2 s, 1 min 30 s"),
        ("iperf3-tcp", "congestion", "cubic, bbr, reno, vegas, htcp", "cubic, bbr, reno, … (5)"),
        ("fio", "direct", "yes, no", "yes, no"),
        # A figure from elsewhere may lie beyond what the tool takes here.
        ("iperf3-tcp", "streams", "1, 100000", "1, 100000"),
    ],
)
def test_values_have_their_unit_and_long_lists_are_a_range(tool: str, name: str, expression: str, text: str) -> None:
    label, values = shown(name, expression, tool)
    assert values == text
    assert label != name


def test_a_choice_is_shown_by_its_label() -> None:
    labels = {str(label) for _value, label in parameter("iperf3-tcp", "direction").choices}
    values = [value for value, _label in parameter("iperf3-tcp", "direction").choices]
    assert set(shown("direction", ", ".join(values[:2]))[1].split(", ")) <= labels


def test_a_setting_of_the_kernel_is_named_by_its_key_with_any_tool() -> None:
    for tool in ("iperf3-tcp", None):
        found = shown("setting.client.net.core.rmem_max", "212992, 4194304", tool)
        assert found == ("net.core.rmem_max (client)", "212992, 4194304")


def test_a_formula_stands_as_written_until_it_is_computed() -> None:
    formula = "=max(sweep.goodput) * 0.8"
    assert shown("rate", formula, "iperf3-udp")[1] == formula
    assert shown("rate", formula, "iperf3-udp", resolved={"rate": "720000000"})[1] == "720 Mbit/s"


@pytest.mark.parametrize("tool", [None, "iperf3-tcp"])
@pytest.mark.parametrize("written", ["", "no number", "1 parsec, 2 parsec", "1," * 4000, "\0<b>"])
def test_what_cannot_be_read_stands_as_it_was_written(tool: str | None, written: str) -> None:
    for name in ("window", "nosuch"):
        _label, text = shown(name, written, tool)
        assert len(text) <= LONGEST_TEXT
        assert written.startswith(text.rstrip("…")) or text == "1 B"


def test_values_of_a_tool_that_is_gone_keep_their_name() -> None:
    assert shown("window", "65536, 131072", None) == ("window", "65536, 131072")
    assert shown("colour", "red, blue") == ("colour", "red, blue")


def parameter(tool: str, name: str) -> Any:
    return next(item for item in tools.get(tool).parameters if item.name == name)
