"""What agents read from the kernel around a job, in the shape of charts and of a table."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.agents.models import Job
from apps.bench import telemetry, units
from apps.bench.toolkit import SampleSeries
from apps.core.messages import render
from apps.results import services


@dataclass(frozen=True)
class TelemetryLine:
    """One line of the table under the charts."""

    label: str
    text: str


@dataclass(frozen=True)
class Watched:
    """What is shown of a job's time; `is_sender` says whether its connections tell what limited TCP."""

    lines: list[TelemetryLine]
    is_sender: bool


def watched(job: Job) -> Watched | None:
    """Return the figures of a job's time, None if its agent told nothing."""
    telemetry_of_job = telemetry.read(services.telemetry_of(job))
    if telemetry_of_job is None:
        return None
    lines = [
        TelemetryLine(render(figure.label), units.format_quantity(_rounded(figure), figure.unit))
        for figure in telemetry.summarise(telemetry_of_job)
    ]
    return Watched(lines, telemetry.transport_of([telemetry_of_job.listings]) is not None)


def charts_of(job: Job) -> dict[str, object]:
    """Return the charts of a job's time, one a metric: {"charts": [chart, ...]}."""
    telemetry_of_job = telemetry.read(services.telemetry_of(job))
    grouped: dict[str, list[SampleSeries]] = {}
    for series in telemetry.series_of(telemetry_of_job) if telemetry_of_job else ():
        grouped.setdefault(series.metric, []).append(series)
    return {
        "charts": [
            {
                "metric": {"name": name, "label": _(telemetry.LABELS[name]), "unit": members[0].unit},
                "x": {"name": "time", "label": _("Time"), "unit": "s", "numeric": True, "log": False},
                "series": [
                    {
                        "label": _stream(member.stream),
                        "points": [{"x": x, "y": y} for x, y in zip(member.times, member.values, strict=True)],
                    }
                    for member in members
                ],
                "lines": [],
            }
            for name, members in grouped.items()
        ]
    }


def _stream(name: str) -> str:
    """Return the words for a line of a chart; a disk's begins with its name."""
    device, _blank, what = name.rpartition(" ")
    words = telemetry.STREAMS.get(what)
    return f"{device} {_(words)}".strip() if words else name


def _rounded(figure: telemetry.TelemetryFigure) -> float:
    # A share has no more digits than the kernel's clock gives it.
    return round(figure.value, 1) if figure.unit == "%" else figure.value
