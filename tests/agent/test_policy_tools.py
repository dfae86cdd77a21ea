"""What the tools of the product need, the agent's policy allows: every plan of every tool, over all its choices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.bench import settings, tools
from apps.bench.context import bracket
from apps.bench.toolkit import NodeRef, ParameterError, Plan, Tool, ToolFailure
from tests.bench.tools import mpi_nodes
from tests.rotation import part_of
from workers.agent.placeholders import Placeholders
from workers.agent.policy import Guard, Reach, network, others, rules_of
from workers.agent.policy.rules import FLAG, Rules

ADDRESSES = [f"10.96.1.{number}" for number in range(11, 31)]
MOUNT = "/mnt/scratch"
WORK = "/tmp/fathom-work"


def nodes(tool: Tool) -> dict[str, list[NodeRef]]:
    """Return nodes for each role, with the facts of real ones."""
    places = iter(ADDRESSES)

    def node(name: str) -> NodeRef:
        address = next(places)
        interface = {"name": "data0", "addresses": [f"{address}/24"]}
        facts = {"hostname": name, "topology": mpi_nodes.topology(), "interfaces": [interface]}
        return NodeRef(name, address, MOUNT, facts)

    return {
        role.name: [node(f"{role.name}-{number}") for number in range(4 if role.many else 1)] for role in tool.roles
    }


def variants(tool: Tool) -> Iterator[dict[str, Any]]:
    """Yield parameters that go through every choice of every parameter, and a value for those without."""
    base: dict[str, Any] = {parameter.name: 2 for parameter in tool.parameters if parameter.required}
    for start in ({}, base):
        yield start
        for parameter in tool.parameters:
            values: list[Any] = [value for value, _label in parameter.choices]
            if parameter.kind == "boolean":
                values = [True, False]
            elif not values and parameter.kind != "text":
                least, most = parameter.minimum or 0, parameter.maximum or 2**40
                values = [value for value in (1, 2, 4, 1000, 1448, 65536, 10**9) if least <= value <= most]
            for value in values:
                yield {**start, parameter.name: value}


def plans(tool: Tool) -> Iterator[Plan]:
    """Yield the plans of the variants that the tool itself takes."""
    for params in variants(tool):
        try:
            made = tool.plan(tool.clean(params), nodes(tool))
        except (ParameterError, ToolFailure):
            continue
        yield bracket(made, nodes(tool), tool)


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_the_policy_allows_what_a_tool_needs(tool: Tool) -> None:
    made = part_of(plans(tool))
    assert made
    for plan in made:
        for command in (command for stage in plan.stages for command in stage.commands):
            if command.argv[0] == settings.PROGRAM:
                continue
            placeholders = Placeholders(Path(WORK), lambda name: f"/usr/bin/{name}")
            guard = Guard(
                work=WORK,
                paths=[MOUNT],
                options={},
                reach=Reach((), frozenset(ADDRESSES)),
                fill=placeholders.fill,
                find_program=lambda name: f"/usr/bin/{name}",
                files=dict(command.files),
            )
            guard.check(command.argv, command.environment)
            assert rules_of(command.argv[0]) is not None


def all_rules(rules: Rules) -> Iterator[Rules]:
    """Yield the rules with those of their parts."""
    yield rules
    for part in (*rules.commands.values(), *filter(None, [rules.behind])):
        yield from all_rules(part)


def test_rules_are_whole() -> None:
    tables = (network.TABLE, others.TABLE, others.FAMILIES)
    for part in (part for table in tables for rules in table.values() for part in all_rules(rules)):
        assert all(option.startswith("-") for option in part.options)
        assert set(part.choices) <= {option for option, kind in part.options.items() if kind != FLAG}
