"""Fields that a later version of a program adds behind those that are read change nothing of what is read."""

import dataclasses
import json
import re
from typing import Any

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, figures, parse, read

NUMBER = r"-?\d[\d.]{0,15}"
# Where fields may follow: behind the last one of a parenthesis, and of a line of fields.
ADDED = (
    (re.compile(rf"([\w-]{{2,20}}=)({NUMBER})\)"), r"\1\2, later-ad=1.000)"),
    (re.compile(rf"(; [#\w -]{{2,40}} ?= ?)({NUMBER})$", re.M), r"\1\2; late=7"),
    (re.compile(rf"(, ?\w{{2,20}}= ?)({NUMBER})$", re.M), r"\1\2, late=7"),
)


def grown(value: Any) -> Any:
    """Return JSON in which every object has a member more."""
    if isinstance(value, dict):
        return {name: grown(item) for name, item in value.items()} | {"fathom_later": 1.5}
    return [grown(item) for item in value] if isinstance(value, list) else value


def later(output: Output) -> Output:
    """Return an output as a later version may print it; the same where it has no place for more."""
    text = output.stdout.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        try:
            return dataclasses.replace(output, stdout=json.dumps(grown(json.loads(text)), indent=1).encode())
        except ValueError:
            pass
    for pattern, replacement in ADDED:
        text = pattern.sub(replacement, text)
    return dataclasses.replace(output, stdout=text.encode())


def told(slug: str, output: Output) -> dict[str, float] | None:
    """Return the figures of an output; None if it has none by itself."""
    try:
        return figures(parse(slug, output))
    except (ToolFailure, ValueError):
        return None


@pytest.mark.parametrize("slug", sorted(tool.slug for tool in tools.all_tools()))
def test_fields_behind_those_that_are_read_are_passed_over(slug: str) -> None:
    wrong = []
    for name in recordings.names(slug, "*.txt") + recordings.names(slug, "*.json"):
        role = tools.get(slug).roles[-1].name
        output = recordings.load(slug, name, role)
        more = later(output)
        if more.stdout != output.stdout and len(output.stdout) < 200_000:
            before = told(slug, output)
            wrong += [name] if before and told(slug, more) != before else []
    assert wrong == []


# As public outputs of 3.8 and 3.10 have it.
SCATTER = (
    b", mean-ad=313.021, median-ad=88.120, siqr=46.910, cv=0.176, std-error=25.588, 99.0% ci=[2469.218, 2601.038])"
)


@pytest.mark.parametrize(
    ("version", "pairs"),
    [
        (b"3.8-0.git31ee322aa82a", ((b"446.873)", b"446.873" + SCATTER),)),
        (b"3.10-no.git", ((b"446.873)", b"446.873" + SCATTER), (b"\x1b[2;35m", b""), (b"\x1b[0m", b""))),
        # As those of 2018 have it.
        (b"3.5-no.git", ((b"avg-latency=", b"avg-lat="),)),
    ],
)
def test_sockperf_is_read_in_the_forms_of_its_versions(version, pairs) -> None:
    later_output = changed("sockperf", "pingpong.txt", (b"3.7-no.git", version), *pairs, role="client")
    reading = parse("sockperf", later_output)
    assert figures(reading) == figures(read("sockperf", "pingpong.txt"))
    assert version.decode().startswith(reading.tool_version)
