"""Figures longer than any number of ours: a tool may print them, and what reads them says so and does not break."""

import dataclasses
import re

import pytest

from apps.bench import judges, recognition, tools
from apps.bench.tools.base import ToolFailure
from tests.bench.tools import recordings

_FIGURE = re.compile(rb"\d+")
LONG = {
    "whole": b"9" * 5000,
    "with a point": b"9" * 5000 + b"." + b"9" * 5000,
    "with a power": b"9e999999",
    "half": b"9" * 400,
}


def changed(raw: bytes, long: bytes) -> list[bytes]:
    """Return a recording with all of its figures so long, and with each of some alone."""
    places = [found.span() for found in _FIGURE.finditer(raw)]
    step = max(1, len(places) // 8)
    each = [raw[:start] + long + raw[end:] for start, end in places[::step]]
    return [_FIGURE.sub(long, raw[:20_000]), *each]


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_no_figure_is_too_long_for_a_parser(slug: str, kind: str) -> None:
    tool = tools.get(slug)
    for name in [name for name in recordings.names(slug) if not name.endswith((".md", ".py"))][:6]:
        try:
            output = recordings.load(slug, name)
        except (UnicodeDecodeError, ValueError):
            continue
        for stdout in changed(output.stdout[:50_000], LONG[kind]):
            own = dataclasses.replace(output, stdout=stdout)
            try:
                reading = judges.read_run([own], tool.clean({}), tool)
            except ToolFailure:
                continue
            assert reading.samples is not None


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_no_figure_is_too_long_for_the_recognition(slug: str) -> None:
    for name in [name for name in recordings.names(slug) if not name.endswith((".md", ".py"))][:1]:
        raw = (recordings.DATA / slug / name).read_bytes()[:30_000]
        for text in changed(raw, LONG["whole"])[::3]:
            assert recognition.read_file(text) is not None
