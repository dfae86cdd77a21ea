"""What a benchmark tool is made of; each tool is one file beside this folder."""

from apps.bench.tools.base.parameters import Parameter, ParameterError, Params, Value
from apps.bench.tools.base.plans import AROUND, Command, NodeRef, Plan, Stage
from apps.bench.tools.base.readings import (
    BY_SIZE,
    Flag,
    Output,
    Reading,
    SampleValue,
    Series,
    ToolFailure,
    ends_of,
    is_invalid,
)
from apps.bench.tools.base.tool import Estimate, Metric, Role, Tool

__all__ = [
    "AROUND",
    "BY_SIZE",
    "Command",
    "Estimate",
    "Flag",
    "Metric",
    "NodeRef",
    "Output",
    "Parameter",
    "ParameterError",
    "Params",
    "Plan",
    "Reading",
    "Role",
    "SampleValue",
    "Series",
    "Stage",
    "Tool",
    "ToolFailure",
    "Value",
    "ends_of",
    "is_invalid",
]
