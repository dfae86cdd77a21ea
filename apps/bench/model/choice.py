"""Which model fits a sweep: that of the factors that varied."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from apps.bench.model import growth, transport
from apps.bench.model.calibration import Model, NotPredictable, Observation
from apps.bench.text import Message, _

TRANSPORT = {transport.STREAMS, transport.WINDOW}
COUNT, SIZE = "integer", "size"


class MeasuredPoint(NamedTuple):
    """A point that was measured: its parameters, mean rate, trials, and where the mean may really lie."""

    parameters: Mapping[str, Any]
    rate: float
    trials: tuple[int, ...] = ()
    interval: tuple[float, float] | None = None


def calibrate_any(
    rows: Iterable[tuple[Any, ...]],
    kinds: Mapping[str, str],
    ceiling_bps: float | None = None,
) -> Model:
    """Return the model of rows, each as a `MeasuredPoint` has it, by the parameters that vary among them.

    `kinds` are those of the tool's parameters. Windows and streams of TCP make one model (bit/s, at most
    `ceiling_bps`), any one count or size another. NotPredictable for anything else, with what would help.
    """
    measurements = [MeasuredPoint(*row) for row in rows]
    names = {name for row in measurements for name in row.parameters}
    varied = {name for name in names if len({str(row.parameters.get(name)) for row in measurements}) > 1}
    if not varied:
        raise NotPredictable(
            Message(_("One setting was measured: vary a factor to learn how the rate goes with it."))
        )
    if varied <= TRANSPORT <= names:
        return transport.calibrate_transport(_observations(measurements, sorted(TRANSPORT)), ceiling_bps)
    if len(varied) > 1:
        text = _("%(names)s varied at once: choose results in which one of them, or TCP's window and streams, did.")
        raise NotPredictable(Message(text, {"names": ", ".join(sorted(varied))}))
    name = varied.pop()
    if kinds.get(name) == COUNT:
        return growth.calibrate_counts(_observations(measurements, [name]), name)
    if kinds.get(name) == SIZE:
        return growth.calibrate_sizes(_observations(measurements, [name]), name)
    text = _("%(name)s is neither a count nor a size: between its values there is nothing to predict.")
    raise NotPredictable(Message(text, {"name": name}))


def _observations(rows: Iterable[MeasuredPoint], names: list[str]) -> list[Observation]:
    return [Observation({name: row.parameters[name] for name in names}, *row[1:]) for row in rows]
