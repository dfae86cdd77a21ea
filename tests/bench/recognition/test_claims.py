"""What neither the command line nor the output tells is not known: no tool claims it of a recording."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output
from tests.bench.tools import recordings

SLUGS = [tool.slug for tool in tools.all_tools()]
# Without the command line these are the range of the table, and how long was measured, whatever was asked for.
MEASURED = {"min_size", "max_size", "duration"}


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_is_claimed_of_nothing(slug):
    tool = tools.get(slug)
    assert tool.recover(Output(tool.roles[0].name, "measure", "north", (), b"", b"", None)) == {}


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if (recordings.DATA / slug).is_dir()])
def test_without_its_command_line_an_output_claims_nothing_else_than_with_it(slug):
    tool = tools.get(slug)
    compared = 0
    for name in recordings.names(slug):
        output = recordings.load(slug, name)
        if not output.argv:
            continue
        known, alone = tool.recover(output), tool.recover(dataclasses.replace(output, argv=()))
        whole, parts = tool.clean(known), tool.clean(alone)
        differing = {key for key in alone if key not in known or whole[key] != parts[key]}
        assert differing <= MEASURED, name
        compared += 1
    assert compared or slug == "custom"
