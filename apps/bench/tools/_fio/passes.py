"""When a client's jobs ran, and how what they moved grew meanwhile."""

from apps.bench.toolkit import Output, Params
from apps.bench.tools._fio import logs
from apps.bench.tools._fio.report import FioReport
from apps.bench.tools._storage.window import Pass, course_of, one_after_the_other


def passes_of(output: Output, report: FioReport, params: Params) -> dict[str, Pass]:
    """Return {metric: pass} of jobs that moved a given amount; those of a given time end together, so {}."""
    ways = {name: way for name, way in report.ways.items() if way.operations and way.seconds}
    if params["duration"] or params["verify"] or not ways:
        return {}
    spans = one_after_the_other(output, [max(way.seconds for way in ways.values())])
    if not spans:
        return {}
    ((begun, end),) = spans
    amounts = {"rate": sum(way.rate for way in ways.values()), **{name: way.rate for name, way in ways.items()}}
    passes = {}
    for metric, rate in amounts.items():
        amount = rate * (end - begun)
        course = logs.course_of(output, metric, begun, end, amount) or (
            course_of(output, (begun, end), amount, reads=metric == "read", at_once=params["direct"])
            if metric in ways
            else ()
        )
        passes[metric] = Pass(begun, end, amount, course)
    return passes | {
        f"{name}_iops": Pass(begun, end, way.iops * (end - begun), passes[name].course) for name, way in ways.items()
    }
