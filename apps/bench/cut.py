"""Outputs of which a part is missing: what can still be said of them, and nothing else."""

import dataclasses
from collections.abc import Sequence

from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output, Params, Reading, Tool, ToolFailure

# Codes of failures to find something: it may be in what is missing.
_NOT_THERE = ("unreadable", "no-result")
_WORDS = _(
    "Not all of what the program on %(node)s printed has arrived: only figures that stand in what is left were taken."
)


def parse(tool: Tool, outputs: Sequence[Output], params: Params) -> Reading:
    """Return the tool's reading of its outputs, without figures for which something that is missing counts.

    ToolFailure, and for want of the missing part one that no other attempt would mend, if there are none.
    """
    cut = [output for output in outputs if output.is_cut]
    try:
        reading = tool.parse(outputs, params)
    except ToolFailure as problem:
        if cut and (problem.code in _NOT_THERE or all(_ended_well(output) for output in cut)):
            raise failure("output-cut", cut[0]) from problem
        raise
    if not cut or _stands_without(tool, outputs, params, reading):
        return reading
    certain = tool.certain_in(outputs)
    samples = tuple(sample for sample in reading.samples if sample.metric in certain)
    if not samples:
        raise failure("output-cut", cut[0])
    flag = Flag("output-cut", "warning", Message(_WORDS, {"node": cut[0].node}))
    return dataclasses.replace(reading, samples=samples, series=(), flags=(*reading.flags, flag))


def _stands_without(tool: Tool, outputs: Sequence[Output], params: Params, reading: Reading) -> bool:
    """Return whether the reading is the same without the outputs that are cut, such as a server's."""
    others = [
        dataclasses.replace(output, stdout=b"", stderr=b"", collected={}) if output.is_cut else output
        for output in outputs
    ]
    try:
        return tool.parse(others, params) == reading
    except ToolFailure:
        return False


def _ended_well(output: Output) -> bool:
    return output.exit_code == 0 and not output.timed_out
