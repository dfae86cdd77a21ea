"""Figures longer than any number of ours: a tool may print them, and what reads them says so and does not break."""

import contextlib
import dataclasses
import re

import pytest

from apps.bench import judges, recognition, tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings
from tests.rotation import part_of

_FIGURE = re.compile(rb"\d+")
LONG = {
    "whole": b"9" * 5000,
    "with a point": b"9" * 5000 + b"." + b"9" * 5000,
    "with a power": b"9e999999",
    "half": b"9" * 400,
}


def changed(raw: bytes, long: bytes) -> list[bytes]:
    """Return a recording with all of its figures so long, and with each of some alone."""
    places = [match.span() for match in _FIGURE.finditer(raw)]
    step = max(1, len(places) // 8)
    each = [raw[:start] + long + raw[end:] for start, end in places[::step]]
    return [_FIGURE.sub(long, raw[:4_000]), *each]


def outputs_of(slug: str) -> list[Output]:
    """Return the first recordings of a tool that are the output of a command."""
    outputs = []
    for name in [name for name in recordings.names(slug) if not name.endswith((".md", ".py"))][:6]:
        with contextlib.suppress(UnicodeDecodeError, ValueError):
            outputs.append(recordings.load(slug, name))
    return outputs


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_no_figure_is_too_long_for_a_parser(slug: str) -> None:
    tool, outputs = tools.get(slug), outputs_of(slug)
    for place, output in enumerate(outputs):
        # Of several recordings each has half of the kinds.
        kinds = [*LONG.values()][place % 2 :: 2] if len(outputs) > 1 else [*LONG.values()]
        for stdout in part_of(text for long in kinds for text in changed(output.stdout[:50_000], long)):
            own = dataclasses.replace(output, stdout=stdout)
            with contextlib.suppress(ToolFailure):
                assert judges.read_run([own], tool.clean({}), tool).samples is not None


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_no_figure_is_too_long_for_the_recognition(slug: str) -> None:
    for name in [name for name in recordings.names(slug) if not name.endswith((".md", ".py"))][:1]:
        raw = (recordings.DATA / slug / name).read_bytes()[:30_000]
        for text in part_of(changed(raw, LONG["whole"])[::3]):
            assert recognition.read_file(text) is not None
