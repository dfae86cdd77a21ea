"""What two runs printed, one after the other in one output, is refused or read as one of them; it is never mixed."""

import dataclasses

import pytest

from apps.bench import judges, tools
from apps.bench.outputs import reconstruction
from apps.bench.toolkit import ToolFailure
from tests.bench.tools import recordings


def read(tool, output):
    """Return the parameters and figures of an output as one of unknown origin; None if it is refused."""
    try:
        parameters = reconstruction.keep_valid(tool, tool.recover(output))
        reading = judges.read_run([output], tool.clean(parameters), tool)
    except ToolFailure:
        return None
    return parameters, {sample.metric: sample.value for sample in reading.samples}


def pairs_of(tool):
    """Yield the names of neighbouring recordings that are read by themselves, without their command lines."""
    if not (recordings.DATA / tool.slug).is_dir():
        return
    texts = {}
    for name in recordings.names(tool.slug):
        # What a server logged is the other side of a run, and no run of its own.
        if name.startswith("logs/"):
            continue
        output = dataclasses.replace(recordings.load(tool.slug, name), argv=(), stderr=b"")
        if output.stdout.strip() and read(tool, output):
            texts[name] = output
    names = list(texts)
    for first, second in zip(names, [*names[1:], *names[:1]], strict=True):
        if first != second:
            yield texts[first], texts[second], f"{first} + {second}"


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_two_runs_are_not_mixed(slug):
    tool = tools.get(slug)
    mixed = []
    for first, second, names in pairs_of(tool):
        both = dataclasses.replace(first, stdout=first.stdout + b"\n" + second.stdout)
        found = read(tool, both)
        if found and found not in (read(tool, first), read(tool, second)):
            mixed.append(names)
    assert not mixed
