"""iperf3 reports for tests: recorded ones, and recorded ones that were changed."""

import dataclasses
import json

import pytest

from apps.bench import tools
from apps.bench.toolkit import ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("iperf3-tcp")


def parse(name, **params):
    return TOOL.parse([recordings.load("iperf3-tcp", name)], TOOL.clean({"duration": 2, "omit": 0, **params}))


def edited(name, edit):
    """Return a recording whose report was changed by a function."""
    output = recordings.load("iperf3-tcp", name)
    text = output.stdout.decode()
    data = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    edit(data)
    return dataclasses.replace(output, stdout=json.dumps(data).encode())


def parse_edited(name, edit, **params):
    return TOOL.parse([edited(name, edit)], TOOL.clean({"duration": 2, "omit": 0, **params}))


def fail(outputs, **params):
    with pytest.raises(ToolFailure) as caught:
        TOOL.parse(outputs, TOOL.clean({"duration": 2, "omit": 0, **params}))
    return caught.value
