"""Try a definition on an output, as if a trial of its defaults had printed it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench import custom, units
from apps.bench.toolkit import NodeRef, Output, ParameterError, Reading, ToolFailure
from apps.core import messages

# What stands for the nodes of a trial.
_CLIENT = NodeRef("client", "192.0.2.1", "/mnt/file-system")
_SERVER = NodeRef("server", "192.0.2.2", "/mnt/file-system")


@dataclass(frozen=True)
class Attempt:
    """What a definition makes: the commands of its defaults, and of an output the figures or why there are none."""

    commands: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    reason: str = ""
    remedy: str = ""
    reading: Reading | None = None
    failure: ToolFailure | None = None


def try_definition(found: custom.Definition, output: str, values: Mapping[str, Any] | None = None) -> Attempt:
    """Return what a definition makes of its defaults (or of parameters' `values`) and, if there is one, of an output.

    ParameterError names each value that its parameters refuse.
    """
    tool = custom.make_tool(found, "tried")
    params = tool.clean(values if values is not None else _defaults(tool))
    nodes = {role.name: [_SERVER if role.name == "server" else _CLIENT] for role in tool.roles}
    plan = tool.plan(params, nodes)
    commands = [(command.role, command.argv) for stage in plan.stages for command in stage.commands]
    if not output.strip():
        return Attempt(commands)
    raw = output.encode("utf-8", "replace")
    collected = {found.result_file: raw} if found.result_file else {}
    printed = Output(tool.roles[0].name, "measure", "–", commands[-1][1], raw, b"", 0, collected=collected)
    try:
        reading = tool.parse([printed], params)
    except ToolFailure as failure:
        reason, remedy = messages.render(failure.message), messages.render(failure.remedy)
        return Attempt(commands, reason=reason, remedy=remedy, failure=failure)
    shown = {metric.name: metric for metric in tool.metrics}
    return Attempt(
        commands,
        figures=[
            (shown[sample.metric].label, units.format_quantity(sample.value, shown[sample.metric].unit))
            for sample in reading.samples
        ],
        flags=[messages.render(flag.message) for flag in reading.flags],
        reading=reading,
    )


def _defaults(tool: custom.CustomTool) -> dict[str, Any]:
    """Return values for the parameters that have no default: the least, or the first choice."""
    values: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.required and parameter.default is None:
            first = parameter.choices[0][0] if parameter.choices else parameter.minimum
            values[parameter.name] = first if first is not None else "1" if parameter.kind != "boolean" else "yes"
    try:
        tool.clean(values)
    except ParameterError as error:
        return {name: value for name, value in values.items() if name not in error.errors}
    return values
