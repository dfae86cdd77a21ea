"""The table of one tool's trials: a row a trial, a column a parameter and a metric, each with its type and unit."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db import connection

from apps.bench import units
from apps.bench.sweep import setting_names
from apps.bench.toolkit import Metric, Parameter, Tool
from apps.campaigns.models import Experiment
from apps.toolbox import queries as toolbox

# As the Table Schema of Frictionless names them.
Type = Literal["string", "integer", "number", "boolean", "datetime"]

# So many kernel settings a table has columns for.
MOST_SETTINGS = 200


@dataclass(frozen=True)
class ExportColumn:
    """A column: name, type, unit of its values (a base unit), and the SQL that gives it; `%s` in it is the `key`."""

    name: str
    type: Type
    sql: str
    title: str = ""
    unit: str = ""
    key: str | None = None


# `t` is the trial, `r` its result, `l` names its nodes, `e` its experiment and `p` has its samples.
BEFORE = (
    ExportColumn("campaign", "string", "e.campaign", "Permanent id of the campaign"),
    ExportColumn("campaign_name", "string", "e.campaign_name", "Name of the campaign"),
    ExportColumn("experiment", "integer", "e.place", "Place of the experiment in its campaign, from 0"),
    ExportColumn("experiment_name", "string", "e.name", "Name of the experiment"),
    ExportColumn("trial", "integer", "t.position", "Place of the trial in its experiment, from 0"),
    ExportColumn("point", "integer", "t.point", "Point of the sweep"),
    ExportColumn("repetition", "integer", "t.repetition", "Repetition of the point"),
    ExportColumn("warmup", "boolean", "t.is_warmup::text", "Whether it only warmed up: statistics leave it out"),
    ExportColumn("nodes", "string", "l.nodes", "Nodes by role, in the order of the tool's roles"),
    ExportColumn("state", "string", "t.state", "succeeded or failed"),
)
_FLAGS = "(SELECT string_agg(DISTINCT f->>'name', ' ') FROM jsonb_array_elements(r.flags) f WHERE f->>'severity' %s)"
AFTER = (
    ExportColumn(
        "invalid", "string", _FLAGS % "= 'invalid'", "Flags that make figures invalid: statistics leave them out"
    ),
    ExportColumn("flags", "string", _FLAGS % "<> 'invalid'", "Other flags of the result"),
    ExportColumn("not_counted", "string", "p.not_counted", "Metrics whose figures statistics leave out"),
    ExportColumn("marked_invalid", "string", "nullif(t.invalid_reason, '')", "Why a person marked the trial invalid"),
    ExportColumn("tool_version", "string", "r.tool_version", "Version of the tool"),
    ExportColumn(
        "finished_at",
        "datetime",
        "to_char(coalesce(t.finished_at, t.updated_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
        "When it ended (UTC)",
    ),
)


def columns_of(
    slug: str, experiments: Sequence[Experiment]
) -> tuple[tuple[ExportColumn, ...], tuple[ExportColumn, ...]]:
    """Return the columns of a tool's table: all of them, and those of them that are metrics.

    A metric is called as its parameter's namesake would be only once: the metric then has "metric." before it.
    """
    tool = toolbox.get_tool(slug)
    names = {column.name for column in (*BEFORE, *AFTER)}
    parameters = [_of_parameter(item, names) for item in _parameters(tool, experiments)]
    names |= {column.name for column in parameters}
    metrics = [_of_metric(name, tool, names) for name in _metrics(tool, experiments)]
    return (*BEFORE, *parameters, *metrics, *AFTER), tuple(metrics)


def _parameters(tool: Tool, experiments: Iterable[Experiment]) -> list[Parameter]:
    """Return the tool's parameters, then the kernel settings that experiments have: those that most of them have."""
    counts = Counter[str]()
    for experiment in experiments:
        counts.update({*experiment.fixed, *(factor["name"] for factor in experiment.factors)})
    settings = setting_names.shown_parameters_of(sorted(counts))
    # Whatever one archive brings: PostgreSQL gives 1,664 columns at most, and others' tables are to be had.
    common = sorted(settings, key=lambda name: (-counts[name], name))[:MOST_SETTINGS]
    return [*tool.parameters, *(settings[name] for name in sorted(common))]


def _of_parameter(parameter: Parameter, names: set[str]) -> ExportColumn:
    kind: Type = "string"
    if parameter.kind in units.WHOLE_KINDS:
        kind = "integer"
    elif parameter.kind in units.NUMBER_KINDS:
        kind = "number"
    elif parameter.kind == "boolean":
        kind = "boolean"
    name = f"parameter.{parameter.name}" if parameter.name in names else parameter.name
    return ExportColumn(name, kind, "t.parameters->>%s", parameter.label, parameter.unit, parameter.name)


def _metrics(tool: Tool, experiments: Sequence[Experiment]) -> list[str]:
    """Return the tool's metrics, the primary one first, then others that an earlier version of it measured.

    What there is stands in an index: of each experiment only its first sample of each metric is looked at.
    """
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, [[item.pk for item in experiments]])
        measured_names = {name for (name,) in cursor.fetchall()}
    own = [metric.name for metric in sorted(tool.metrics, key=lambda metric: not metric.primary)]
    return [*(name for name in own if name in measured_names), *sorted(measured_names - set(own))]


_FOUND = """
SELECT DISTINCT step.metric FROM unnest(%s::bigint[]) e, LATERAL (
    WITH RECURSIVE steps AS (
        (SELECT metric FROM results_sample WHERE experiment_id = e ORDER BY metric LIMIT 1)
        UNION ALL
        SELECT (SELECT s.metric FROM results_sample s WHERE s.experiment_id = e AND s.metric > steps.metric
                ORDER BY s.metric LIMIT 1)
        FROM steps WHERE steps.metric IS NOT NULL
    )
    SELECT metric FROM steps WHERE metric IS NOT NULL
) step
"""


def _of_metric(name: str, tool: Tool, names: set[str]) -> ExportColumn:
    metric: Metric | None = next((item for item in tool.metrics if item.name == name), None)
    title = f"metric.{name}" if name in names else name
    label, unit = (metric.label, metric.unit) if metric else ("", "")
    return ExportColumn(title, "number", "", str(label), unit, name)


def as_json(columns: Iterable[ExportColumn]) -> list[dict[str, str]]:
    """Return columns as fields of a Table Schema; `unit` is an addition of ours, which the standard allows."""
    return [
        {
            "name": column.name,
            "type": column.type,
            **({"title": column.title} if column.title else {}),
            **({"unit": column.unit} if column.unit else {}),
        }
        for column in columns
    ]
