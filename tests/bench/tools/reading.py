"""Reading recordings in tests: parsed with the parameters they were made with, changed, or failing."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings


def parse(slug, *outputs, **params):
    """Return the reading of outputs, with the parameters that the last of them tells of unless given."""
    tool = tools.get(slug)
    return tool.parse(outputs, tool.clean({**tool.recover(outputs[-1]), **params}))


def read(slug, name, server="", **params):
    """Return the reading of a recording, with the recording of its server before it if one is named."""
    outputs = [recordings.load(slug, server, role="server")] if server else []
    return parse(slug, *outputs, recordings.load(slug, name), **params)


def fail(slug, *outputs, **params):
    with pytest.raises(ToolFailure) as caught:
        parse(slug, *outputs, **params)
    return caught.value


def figures(reading):
    return {sample.metric: sample.value for sample in reading.samples}


def flags(reading):
    return {flag.name: flag.severity for flag in reading.flags}


def changed(slug, name, *pairs, role=""):
    """Return a recording with texts of its stdout replaced."""
    output = recordings.load(slug, name, role)
    stdout = output.stdout
    for old, new in pairs:
        assert old in stdout
        stdout = stdout.replace(old, new)
    return dataclasses.replace(output, stdout=stdout)


def said(slug, stdout=b"", stderr=b"", role="client", words=()):
    """Return an output that was never recorded."""
    return Output(role, "measure", "north", (tools.get(slug).programs[0], *words), stdout, stderr, 1)


def recognised_as(slug, name):
    output = recordings.load(slug, name)
    return [tool.slug for tool in tools.all_tools() if tool.recognises(output)]
