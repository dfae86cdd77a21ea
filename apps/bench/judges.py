"""What is said of a measurement beside what its tool printed: each judge adds what it saw, and its doubts."""

from collections.abc import Callable, Sequence

from apps.bench.tools.base import AROUND, Output, Params, Reading, Tool

# Takes a reading, all outputs of the run (those around the tool's own included), the parameters and the tool.
Judge = Callable[[Reading, Sequence[Output], Params, Tool], Reading]

JUDGES: tuple[Judge, ...] = ()


def read_run(outputs: Sequence[Output], params: Params, tool: Tool) -> Reading:
    """Return the tool's reading of its own outputs as the judges leave it, or raise the tool's ToolFailure."""
    own = [output for output in outputs if not output.stage.startswith(AROUND)]
    reading = tool.parse(own, params)
    for judge in JUDGES:
        reading = judge(reading, outputs, params, tool)
    return reading
