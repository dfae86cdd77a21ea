"""What the fields of an experiment's form show before anything is typed."""

import pytest

from apps.bench import tools
from apps.campaigns.forms import fields


@pytest.mark.parametrize(
    ("tool", "name", "shown"),
    [
        ("iperf3-tcp", "window", "autotuned"),
        ("iperf3-tcp", "duration", "10s"),
        ("iperf3-tcp", "bottleneck", "not given"),
        ("iozone", "clients", "all"),
        ("gridftp", "retries", "0"),
    ],
)
def test_an_empty_field_shows_in_grey_what_it_takes(tool: str, name: str, shown: str) -> None:
    parameter = next(item for item in tools.get(tool).parameters if item.name == name)
    assert fields.field_of(parameter).widget.attrs["placeholder"] == shown
