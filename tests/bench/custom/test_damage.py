"""Whatever happens to an output, a defined tool gives a sound reading or a ToolFailure."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench.toolkit import ToolFailure
from tests.bench.custom import definitions
from tests.bench.tools.test_damage import check, damages
from tests.rotation import number_of

CASES = [("site-digest", "openssl_speed.txt"), ("site-zero", "dd.txt"), ("site-json", "openssl_speed.txt")]


def tool(name):
    if name != "site-json":
        return definitions.tool(name)
    metric = {"name": "speed", "unit": "MB/s", "find": "json", "where": "rows[*].speed", "take": "sum"}
    return definitions.tool("site-digest", metrics=[metric], conditions=[])


@settings(max_examples=number_of(50), deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(("name", "recording"), CASES)
def test_damage_never_gives_anything_but_a_tool_failure(name, recording, data):
    made, output = tool(name), definitions.output(recording)
    text = b'{"rows": [{"speed": 1.5}, {"speed": 2e3}]}' if name == "site-json" else output.stdout
    stdout, stderr = data.draw(damages(text)), data.draw(damages(output.stderr))
    damaged = dataclasses.replace(output, role="node", stdout=stdout, stderr=stderr)
    try:
        reading = made.parse([damaged], made.clean(made.recover(damaged)))
    except ToolFailure as failure:
        assert str(failure.message).isprintable()
    else:
        check(made, reading)
