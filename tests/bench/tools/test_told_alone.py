"""What outputs tell by themselves is what their command lines say: nothing is told that was not so."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Tool
from tests.bench.tools import recordings

# Times that a program prints are those for which it ran.
NEAR = {"duration": 0.05, "interval": 0.1}
# Sizes that a table holds are those that were measured: a collective's least, the largest before a run was ended.
MEASURED = {("imb", "min_size"), ("mpi-pingpong", "max_size")}


def cases() -> list[tuple[str, str]]:
    folders = {tool.slug: tool for tool in tools.all_tools()}
    return [(slug, name) for slug in folders for name in recordings.names(slug, "*.*") if not name.startswith("err")]


def recovered(tool: Tool, name: str, *, argv: bool) -> dict[str, object]:
    output = recordings.load(tool.slug, name)
    own = output if argv else dataclasses.replace(output, argv=())
    raw = tool.recover(own)
    whole = tool.clean(raw)
    return {key: whole[key] for key in raw}


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_what_an_output_tells_is_what_its_command_said(slug: str) -> None:
    tool = tools.get(slug)
    wrong = {}
    for _slug, name in (case for case in cases() if case[0] == slug):
        if not recordings.load(slug, name).argv:
            continue
        from_output, from_command = recovered(tool, name, argv=False), recovered(tool, name, argv=True)
        for key in from_output.keys() & from_command.keys():
            one, other = from_output[key], from_command[key]
            is_near = key in NEAR and abs(float(str(one)) - float(str(other))) <= NEAR[key] * float(str(other))
            if one != other and not is_near and (slug, key) not in MEASURED:
                wrong[name, key] = one, other
    assert wrong == {}
