"""What a benchmark tool is made of; each tool is one file in `apps.bench.tools`."""

from apps.bench.toolkit.means import harmonic_metrics, right_mean
from apps.bench.toolkit.parameters import Parameter, ParameterError, Params, Value
from apps.bench.toolkit.plans import AROUND, FILE_SERVER, Command, NodeRef, Plan, Stage
from apps.bench.toolkit.readings import (
    BY_SIZE,
    Flag,
    Output,
    Reading,
    SampleSeries,
    SampleValue,
    ToolFailure,
    bears_on,
    ends_of,
    is_invalid,
)
from apps.bench.toolkit.tool import Metric, Tool, ToolRole, TrialEstimate
from apps.bench.toolkit.ways import goes_back

__all__ = [
    "AROUND",
    "BY_SIZE",
    "FILE_SERVER",
    "Command",
    "Flag",
    "Metric",
    "NodeRef",
    "Output",
    "Parameter",
    "ParameterError",
    "Params",
    "Plan",
    "Reading",
    "SampleSeries",
    "SampleValue",
    "Stage",
    "Tool",
    "ToolFailure",
    "ToolRole",
    "TrialEstimate",
    "Value",
    "bears_on",
    "ends_of",
    "goes_back",
    "harmonic_metrics",
    "is_invalid",
    "right_mean",
]
