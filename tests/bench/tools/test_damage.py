"""Whatever happens to an output, a parser gives a sound reading or a ToolFailure, and raises nothing else."""

import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench import tools
from apps.bench.toolkit import Reading, ToolFailure
from tests.bench.tools import recordings
from tests.rotation import number_of

SLUGS = [tool.slug for tool in tools.all_tools()]
# One sweep's file stands for all: they have one form.
SAMPLES = {slug: [name for name in recordings.names(slug) if "/" not in name] for slug in SLUGS}
DIRECTIONS = ["forward", "reverse", "both"]


def parse(slug, stdout, stderr, output, **params):
    tool = tools.get(slug)
    damaged = dataclasses.replace(output, stdout=stdout, stderr=stderr)
    try:
        reading = tool.parse([damaged], tool.clean(params))
    except ToolFailure as failure:
        json.dumps(failure.as_json())
        assert str(failure.message)
        assert str(failure.message).isprintable()
        return None
    check(tool, reading)
    return reading


def check(tool, reading):
    """Assert that a reading can be stored: finite figures, one of a name, known metrics, plain JSON."""
    declared = {metric.name for metric in tool.metrics}
    names = [sample.metric for sample in reading.samples]
    assert set(names) <= declared
    assert len(names) == len(set(names))
    assert all(math.isfinite(sample.value) for sample in reading.samples)
    keys = [(item.metric, item.stream) for item in reading.series]
    assert len(keys) == len(set(keys))
    for item in reading.series:
        assert len(item.times) == len(item.values)
        assert all(map(math.isfinite, (*item.times, *item.values)))
    text = json.dumps(reading.as_json(), allow_nan=False)
    assert all(string.isprintable() for string in strings_of(reading.as_json()))
    assert Reading.from_json(json.loads(text)) == reading


def strings_of(value):
    if isinstance(value, str):
        return [value]
    children = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [string for child in children for string in strings_of(child)]


@st.composite
def damages(draw, data):
    """Damage bytes: cut, flip, insert, mix with another text, decimal commas, repeat, delete."""
    for kind in draw(
        st.lists(st.sampled_from(["cut", "flip", "insert", "mix", "comma", "repeat", "drop"]), min_size=1)
    ):
        size = max(len(data), 1)
        position = draw(st.integers(0, size - 1))
        length = draw(st.integers(1, 40))
        if kind == "cut":
            data = data[:position]
        elif kind == "flip":
            data = data[:position] + bytes([draw(st.integers(0, 255))]) + data[position + 1 :]
        elif kind == "insert":
            data = data[:position] + draw(st.binary(max_size=30)) + data[position:]
        elif kind == "mix":
            other = draw(st.sampled_from([b"iperf3: error - ", b"NaN", b"1e999", b"\\u0000", b"-1", b"[]", b"null"]))
            data = data[:position] + other + data[position + length :]
        elif kind == "comma":
            data = data.replace(b".", b",")
        elif kind == "repeat":
            data = data[: position + length] + data[position:]
        else:
            data = data[:position] + data[position + length :]
    return data


@settings(max_examples=number_of(50), deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("slug", SLUGS)
def test_damage_never_gives_anything_but_a_tool_failure(slug, data):
    output = recordings.load(slug, data.draw(st.sampled_from(SAMPLES[slug])))
    stdout = data.draw(damages(output.stdout))
    stderr = data.draw(st.sampled_from([output.stderr, b"", b"\xff\x00"]))
    params = {"count": 2} if slug == "ping" else tools.get(slug).recover(output)
    if slug.startswith("iperf3"):
        params = {"duration": 1, "direction": data.draw(st.sampled_from(DIRECTIONS)), "window": "64K"}
    parse(slug, stdout, stderr, output, **params)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**320),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=5),
    st.builds(list),
    st.builds(dict),
    st.builds(lambda: [{}, None, 1]),
)


def put_somewhere(draw, data):
    """Put an odd value at a place of a report chosen at random, at any depth."""
    while True:
        keys = list(range(len(data))) if isinstance(data, list) else list(data)
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if isinstance(data[key], dict | list) and draw(st.booleans()):
            data = data[key]
        else:
            data[key] = draw(VALUES)
            return


@settings(max_examples=number_of(50), deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("slug", ["iperf3-tcp", "iperf3-udp"])
def test_odd_values_in_a_whole_report_never_give_anything_but_a_tool_failure(slug, data):
    names = [name for name in SAMPLES[slug] if not name.startswith(("err", "server", "text"))]
    output = recordings.load(slug, data.draw(st.sampled_from(names)))
    text = output.stdout.decode()
    report = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    for _round in range(data.draw(st.integers(1, 6))):
        put_somewhere(data.draw, report)
    direction = data.draw(st.sampled_from(DIRECTIONS))
    parse(slug, json.dumps(report).encode(), b"", output, duration=1, direction=direction, window="64K")


@settings(max_examples=number_of(30), deadline=None)
@given(stdout=st.binary(max_size=200), stderr=st.binary(max_size=50))
@pytest.mark.parametrize("slug", SLUGS)
def test_noise_is_no_reading(slug, stdout, stderr):
    output = recordings.load(slug, SAMPLES[slug][0])
    assert parse(slug, stdout, stderr, output) is None


@pytest.mark.parametrize("slug", SLUGS)
def test_a_report_of_endless_depth_is_refused(slug):
    output = recordings.load(slug, SAMPLES[slug][0])
    assert parse(slug, b'{"start":' + b"[" * 200_000, b"", output) is None
