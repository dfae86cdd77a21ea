"""TCP's rate over window and streams: X = min(C, N min(a W, F)), calibrated on measured settings."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from apps.bench.model import law as core
from apps.bench.model.calibration import Law, Model, NotPredictable, Observation, calibrate
from apps.bench.text import Message, _

STREAMS, WINDOW = "streams", "window"
# A window of 0 is the one that the kernel tunes by itself; it has a rate of its own for each stream.
EXPLICIT, TUNED = "explicit", "automatic"
# A setting below this share of the most that was measured is on the slope, one above the other on the plateau.
SLOPE, PLATEAU = 0.75, 0.9
# How sharply the slope turns into the plateau: the exponent of (x^-p + C^-p)^(-1/p).
SHARPNESS = (4.0, 8.0, 32.0)
# So many values of the cap of each flow are tried.
MOST_CANDIDATES = 12
# A constant more must take away this much of the squared errors.
WORTH = 0.5

_UNMEASURED = {
    EXPLICIT: _("No explicit window was measured: measure one, the automatic window says nothing of it."),
    TUNED: _("The automatic window was not measured: measure it, explicit windows say nothing of it."),
}


def calibrate_transport(observations: Iterable[Observation], ceiling_bps: float | None = None) -> Model:
    """Return the model of rates (bit/s) measured over ``{"streams", "window"}`` (B asked for; 0: automatic).

    `ceiling_bps` is what TCP can have of the path, where it is known: no rate is predicted beyond it. All else
    (path, congestion control, MTU, direction) is to be equal. NotPredictable where the measurements carry no model,
    and later of an automatic window where only explicit ones were measured, or the other way round.
    """
    return calibrate(list(observations), lambda points: _fit(points, ceiling_bps))


def _kind(window: float) -> str:
    return EXPLICIT if window else TUNED


def _fit(observations: Sequence[Observation], ceiling_bps: float | None) -> Law | None:
    """Return the law of the least squared error of logarithms, with as few constants as the points warrant."""
    best: tuple[float, dict[str, float]] | None = None
    for capacity, flow in itertools.product(_capacities(observations, ceiling_bps), _flows(observations)):
        for sharpness in SHARPNESS:
            constants = _slopes(observations, capacity, flow) | {"capacity": capacity, "sharpness": sharpness}
            if flow:
                constants["flow"] = flow
            error = _error(observations, constants)
            # A cap of each flow is believed only if it explains much that the window alone does not.
            if flow:
                error = error / WORTH + 1e-9
            if best is None or error < best[0]:
                best = error, constants
    return _law(best[1], observations, ceiling_bps) if best else None


def _error(observations: Sequence[Observation], constants: Mapping[str, float]) -> float:
    return sum((math.log(item.rate) - math.log(_rate(item.setting, constants)[0])) ** 2 for item in observations)


def _rate(setting: Mapping[str, float], constants: Mapping[str, float]) -> tuple[float, str]:
    demand, limit = _demand(setting, constants)
    capacity, sharpness = constants["capacity"], constants["sharpness"]
    if not math.isfinite(capacity):
        return demand, limit
    # Written by the lesser of both, so that no power overflows.
    smaller, larger = min(demand, capacity), max(demand, capacity)
    rate = smaller * (1 + (smaller / larger) ** sharpness) ** (-1 / sharpness)
    return rate, core.CAPACITY if demand >= capacity else limit


def _demand(setting: Mapping[str, float], constants: Mapping[str, float]) -> tuple[float, str]:
    """Return what the streams would have of an endless path (bit/s), and what limits them."""
    streams, window = setting[STREAMS], setting[WINDOW]
    if not window:
        return streams * constants.get(TUNED, 1.0), core.FLOW
    each, limit = constants.get("per_byte", 1.0) * window, core.WINDOW
    if constants.get("flow", math.inf) < each:
        each, limit = constants["flow"], core.FLOW
    return streams * each, limit


def _law(constants: dict[str, float], observations: Sequence[Observation], ceiling_bps: float | None) -> Law:
    measured = {_kind(item.setting[WINDOW]) for item in observations}

    def place(setting: Mapping[str, float]) -> tuple[str, float]:
        return _kind(setting[WINDOW]), math.log(setting[STREAMS] * (setting[WINDOW] or 1))

    def least(setting: Mapping[str, float]) -> float:
        """Return what is left where more data under way than any measured setting had overflow a queue."""
        own = [item for item in observations if place(item.setting)[0] == _kind(setting[WINDOW])]
        last = max(own, key=lambda item: place(item.setting)[1])
        if place(setting) <= place(last.setting):
            return math.inf
        return last.rate * core.shallow_share(int(setting[STREAMS]))

    def check(setting: Mapping[str, float]) -> None:
        if _kind(setting[WINDOW]) not in measured:
            raise NotPredictable(Message(_UNMEASURED[_kind(setting[WINDOW])]))

    return Law(
        at=lambda setting: _rate(setting, constants),
        place=place,
        constants=constants,
        formula="X = min(C, N · min(a · W, F))",
        check=check,
        most=max(ceiling_bps or math.inf, *(item.rate for item in observations)),
        least=least,
    )


def _capacities(observations: Sequence[Observation], ceiling_bps: float | None) -> list[float]:
    """Return what the path's capacity may be: plateaus of the measured rates, what is known, or no limit at all."""
    rates = sorted(item.rate for item in observations)
    top = [rate for rate in rates if rate >= PLATEAU * rates[-1]]
    capacities = {rates[-1], math.exp(sum(map(math.log, top)) / len(top))}
    # A plateau far below the ceiling would be measured as such; else the slope may go on up to the ceiling.
    capacities.add(ceiling_bps if ceiling_bps and ceiling_bps >= rates[-1] else math.inf)
    return sorted(
        min(value, ceiling_bps) if ceiling_bps and ceiling_bps >= rates[-1] else value for value in capacities
    )


def _flows(observations: Sequence[Observation]) -> list[float | None]:
    explicit = [item for item in observations if item.setting[WINDOW]]
    if len({item.setting[WINDOW] for item in explicit}) < 2:
        return [None]
    flows = sorted({item.rate / item.setting[STREAMS] for item in explicit})
    return [None, *flows[:: -(-len(flows) // MOST_CANDIDATES)]]


def _slopes(observations: Sequence[Observation], capacity: float, flow: float | None) -> dict[str, float]:
    """Return a (bit/s for each byte of window) and the rate of an automatic stream, from what is on the slope.

    The points of a kind that all lie on the plateau tell only that theirs is at least so much.
    """
    slopes = {}
    for name, is_explicit in (("per_byte", True), (TUNED, False)):
        ratios = [
            (item.rate / (item.setting[STREAMS] * (item.setting[WINDOW] or 1)), item)
            for item in observations
            if bool(item.setting[WINDOW]) == is_explicit
        ]
        if not ratios:
            continue
        slope = [
            ratio
            for ratio, item in ratios
            if item.rate < SLOPE * capacity and not (flow and item.rate >= PLATEAU * flow * item.setting[STREAMS])
        ]
        # From a plateau alone: the smallest demand on it reaches it comfortably.
        slopes[name] = _median(slope) if slope else 2 * max(ratio for ratio, _item in ratios)
    return slopes


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else math.sqrt(ordered[middle - 1] * ordered[middle])
