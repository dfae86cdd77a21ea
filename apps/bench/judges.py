"""What is said of a measurement beside what its tool printed: each judge adds what it saw, and its doubts."""

import dataclasses
import re
from collections.abc import Callable, Sequence

from apps.bench import bounds, context, cut, settings, telemetry, validity
from apps.bench.network import rfc6349
from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import AROUND, Output, Params, Reading, Tool

# Takes a reading, all outputs of the run (those around the tool's own included), the parameters and the tool.
Judge = Callable[[Reading, Sequence[Output], Params, Tool], Reading]

JUDGES: tuple[Judge, ...] = (telemetry.judge, settings.judge, context.judge, validity.judge)
# In what programs answer when asked for theirs: "ping from iputils 20221126", "nuttcp-6.1.2".
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+\w*|\d{6,})")


def read_run(
    outputs: Sequence[Output],
    params: Params,
    tool: Tool,
    capacity_bps: float | None = None,
    *,
    nodes: int = 0,
    described: Params | None = None,
) -> Reading:
    """Return the tool's reading of its own outputs as the judges leave it, or raise the tool's ToolFailure.

    `capacity_bps` is the least capacity (bit/s) of the links between the nodes, None if it is not known; `nodes` is
    how many took part, 0 if that is not known. Of outputs from elsewhere only the `described` parameters are known:
    what else a parser needs it assumes, but nothing is judged by that, nor kept as what was asked for.
    """
    own = [output for output in outputs if not output.stage.startswith(AROUND)]
    # What is no figure is no judge's to reckon with.
    reading = bounds.within(_with_version(_parse(tool, own, params), own, tool), tool)
    if described is not None:
        assumed = params.keys() - described.keys()
        requested = {name: value for name, value in reading.requested.items() if name not in assumed}
        reading = dataclasses.replace(reading, requested=requested)
    judged_params = params if described is None else described
    for judge in JUDGES:
        # The others judge what agents saw around a run of ours, of which all is known.
        reading = judge(reading, outputs, judged_params if judge is validity.judge else params, tool)
    if nodes == 2:
        reading = validity.add_flags(reading, validity.ceilings.flags(reading, tool, capacity_bps), {})
    # Last, for it holds a run against what the others saw of the path.
    return bounds.within(rfc6349.judge(reading, judged_params, tool, capacity_bps), tool)


def _parse(tool: Tool, own: Sequence[Output], params: Params) -> Reading:
    """Return the tool's own reading; figures longer than any number break no one who asked for a ToolFailure."""
    _refuse_several(tool, own)
    try:
        return cut.parse(tool, own, params)
    except (OverflowError, ValueError) as error:
        raise failure("unreadable", own[-1] if own else None) from error


def _refuse_several(tool: Tool, own: Sequence[Output]) -> None:
    """Refuse an output that holds several runs: figures of one would be taken with the settings of another."""
    for output in own:
        if tool.opening and (count := len(tool.opening.findall(texts.read_text(output)))) > 1:
            raise failure("several-results", output, n=count)


def _with_version(reading: Reading, own: Sequence[Output], tool: Tool) -> Reading:
    """Take the version that the nodes' agents know of the tool's program where its own output tells none."""
    if reading.tool_version:
        return reading
    versions = (
        output.facts.get("tools", {}).get(tool.programs[0], {}).get("version", "") for output in reversed(own)
    )
    number = next((match for text in versions if (match := _VERSION.search(text))), None)
    return dataclasses.replace(reading, tool_version=number[1]) if number else reading
