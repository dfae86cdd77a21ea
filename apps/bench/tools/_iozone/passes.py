"""When each test of a command of IOzone's ran, and how what it moved grew meanwhile."""

from collections.abc import Mapping

from apps.bench.toolkit import Output, Params
from apps.bench.tools._iozone.report import IozonePoint, IozoneReport
from apps.bench.tools._storage.window import Pass, course_of, one_after_the_other

READS = frozenset({"read", "reread", "random_read", "backward_read", "strided_read"})


def passes_of(output: Output, report: IozoneReport, point: IozonePoint, params: Params) -> dict[str, Pass]:
    """Return {metric: pass} of a report of one point, its tests in the order in which they are printed."""
    rates = report.rates(point)
    if len(report.points) != 1 or report.unit != "rate" or not rates or not point.file_size:
        return {}
    seconds = {metric: _seconds(point, metric, rates) for metric in rates}
    spans = one_after_the_other(output, list(seconds.values()))
    at_once = report.direct or bool(params.get("sync"))
    passes = {}
    for (metric, rate), span in zip(rates.items(), spans, strict=False):
        amount = rate * seconds[metric]
        course = course_of(output, span, amount, reads=metric in READS, at_once=at_once)
        passes[metric] = Pass(*span, amount, course)
    return passes


def _seconds(point: IozonePoint, metric: str, rates: Mapping[str, float]) -> float:
    """Return for how long (s) a test ran: when the fastest of several processes has done its file all of them end."""
    if point.processes == 1:
        return point.file_size / rates[metric]
    share = point.most.get(metric, 0.0) / point.figures[metric]
    return point.file_size / (share * rates[metric]) if share else 0.0
