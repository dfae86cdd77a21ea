"""What all calibrated models share: a law, the error it makes where it was measured, and predictions."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from apps.bench import statistics
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message, _

# Fewer different settings than this leave nothing to check a law by.
LEAST_SETTINGS = 3
# So many settings, spread over all, are left out in turn: enough to know the error by.
MOST_LEFT_OUT = 40
# No law of this service is better than repeated runs of the same setting usually are.
LEAST_ERROR = 0.02
# A law that misses its own points by more than this (a factor of e to it) tells nothing.
MOST_ERROR = 0.7
# Each doubling beyond the measured range adds as much again to the error.
PER_DOUBLING = 1.0
# Growth of more than this power of the count between the last two may well be growth in proportion.
NEARLY = 0.7


class NotPredictable(ValueError):
    """A rate that the measurements do not carry; `message` says why and what would help."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class Observation(Within):
    """The mean rate of one measured setting, its trials, and where the mean may really lie (None where not known)."""

    setting: Mapping[str, float]
    rate: float
    trials: tuple[int, ...] = ()
    interval: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the most that the rate may really be, as far as its repetitions tell."""
        return self.interval or (self.rate, self.rate)


@dataclass(frozen=True)
class Prediction(Within):
    """A rate in the unit of the observations, with its interval, and the term of the law that limits it.

    The interval is one of 95 % or more: between two settings it holds both, beyond the last what was not seen.

    `beyond` names the settings outside of what was measured: there the law is extended, not checked.
    """

    value: float
    low: float
    high: float
    limit: str
    beyond: tuple[str, ...] = ()
    formula: str = ""


@dataclass(frozen=True)
class Law:
    """A fitted law: `at(setting)` gives the rate and its limit, `constants` what was fitted.

    `place(setting)` is (key, place): misses of the law are interpolated between settings of one key by their place.
    `check(setting)` raises NotPredictable of what the law says nothing of; `most` bounds every rate; `least(setting)`
    is what a limit that has not shown yet may leave of a rate beyond the measured ones (infinite: the law's own).
    """

    at: Callable[[Mapping[str, float]], tuple[float, str]]
    place: Callable[[Mapping[str, float]], tuple[str, float]]
    constants: Mapping[str, float]
    formula: str
    check: Callable[[Mapping[str, float]], None] = lambda _setting: None
    most: float = math.inf
    least: Callable[[Mapping[str, float]], float] = lambda _setting: math.inf


Fit = Callable[[Sequence[Observation]], Law | None]


@dataclass(frozen=True)
class Model:
    """A law calibrated on observations; `error` is the typical miss of settings it had not seen (0.05: 5 %)."""

    law: Law
    observations: tuple[Observation, ...]
    error: float
    half_width: float

    @property
    def constants(self) -> Mapping[str, float]:
        """Return the law's constants, by name."""
        return self.law.constants

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of the trials it was calibrated on."""
        return tuple(sorted({trial for observation in self.observations for trial in observation.trials}))

    def predict(self, setting: Mapping[str, float]) -> Prediction:
        """Return the rate at a setting: the law's, mended by what it misses at the settings on either side.

        The setting has all names of the observations. NotPredictable for one of which the law says nothing.
        """
        self.law.check(setting)
        value, limit = self.law.at(setting)
        value = min(value * math.exp(_miss_at(self.law, self.observations, setting)), self.law.most)
        doublings = self._doublings_beyond(setting)
        width = self.half_width * (1 + PER_DOUBLING * sum(doublings.values()))
        beyond = tuple(name for name, count in doublings.items() if count)
        low, high = value * math.exp(-width), min(value * math.exp(width), self.law.most)
        lowest, highest = self._beside(setting)
        # Rounding may leave the value just outside.
        low, high = min(low, lowest, self.law.least(setting), value), max(high, highest, value)
        return Prediction(value, low, high, limit, beyond, self.law.formula)

    def _beside(self, setting: Mapping[str, float]) -> tuple[float, float]:
        """Return the least and the most rate that the settings measured on either side allow.

        Between two the rate lies between theirs, and is no surer than they are. Beyond the last it may stay as it is,
        or go on as it grew between the last two: what limits it next was not seen.
        """
        key, place = self.law.place(setting)
        places = ((self.law.place(item.setting), item.rate, item.ends) for item in self.observations)
        of_key = sorted((spot, rate, ends) for (own, spot), rate, ends in places if own == key)
        curve = [(spot, rate) for spot, rate, _ends in of_key]
        left, right = [pair for pair in curve if pair[0] <= place], [pair for pair in curve if pair[0] >= place]
        rates = [rate for _spot, rate in (*left[-1:], *right[:1])]
        if not rates:
            return math.inf, 0.0
        if len(left) > 1 and not right:
            (start, before), (end, last) = left[-2:]
            grown = math.log(last / before) / (end - start) if end > start else 0.0
            # A little less than in proportion may be scatter: then it goes on in proportion.
            exponent = 1.0 if grown > NEARLY else max(0.0, grown)
            rates.append(last * math.exp(exponent * (place - end)))
        ends = [
            *[item for item in of_key if item[0] <= place][-1:],
            *[item for item in of_key if item[0] >= place][:1],
        ]
        lowest = min(min(rates) * math.exp(-self.half_width), *(low for _spot, _rate, (low, _high) in ends))
        highest = max(max(rates) * math.exp(self.half_width), *(high for _spot, _rate, (_low, high) in ends))
        return lowest, min(highest, self.law.most)

    def _doublings_beyond(self, setting: Mapping[str, float]) -> dict[str, float]:
        doublings = {}
        for name, value in setting.items():
            positive = [
                observation.setting[name] for observation in self.observations if observation.setting[name] > 0
            ]
            if value <= 0 or not positive:
                doublings[name] = 0.0
            else:
                doublings[name] = max(0.0, math.log2(value / max(positive)), math.log2(min(positive) / value))
        return doublings


def calibrate(observations: Sequence[Observation], fit: Fit) -> Model:
    """Return the model; NotPredictable for too few settings, or if it misses what it was not shown by too much.

    Its error is that of leaving each setting out in turn (Stone, 1974), of those in the midst of others if there are.
    """
    merged = merge(observations)
    if len(merged) < LEAST_SETTINGS:
        text = _("%(count)s settings were measured: measure at least %(least)s to calibrate a model on.")
        raise NotPredictable(Message(text, {"count": len(merged), "least": LEAST_SETTINGS}))
    law = fit(merged)
    if law is None:
        raise NotPredictable(Message(_("What was measured follows no law that this service knows.")))
    misses = _left_out(merged, fit)
    spread = math.sqrt(sum(miss * miss for miss in misses) / len(misses)) if misses else math.inf
    if spread > MOST_ERROR:
        text = _("The model misses settings that it was not shown by more than half: measure more of them.")
        raise NotPredictable(Message(text))
    spread = max(spread, LEAST_ERROR)
    quantile = statistics.student_t_quantile((1 + statistics.CONFIDENCE) / 2, max(1, min(len(misses), 30)))
    return Model(law, tuple(merged), math.expm1(spread), spread * min(quantile, 3.0))


def merge(observations: Sequence[Observation]) -> list[Observation]:
    """Return one observation for each setting, with the mean of its rates; those of nothing are left out."""
    groups: dict[tuple[tuple[str, float], ...], list[Observation]] = {}
    for observation in observations:
        if not (math.isfinite(observation.rate) and observation.rate > 0):
            continue
        groups.setdefault(tuple(sorted(observation.setting.items())), []).append(observation)
    return [_together(dict(key), group) for key, group in groups.items()]


def _together(setting: Mapping[str, float], group: Sequence[Observation]) -> Observation:
    low, high = min(item.ends[0] for item in group), max(item.ends[1] for item in group)
    # Rounding may lead a mean of equal rates astray by the last digit.
    mean = min(max(math.fsum(item.rate for item in group) / len(group), low), high)
    return Observation(setting, mean, tuple(sorted({trial for item in group for trial in item.trials})), (low, high))


def _left_out(observations: Sequence[Observation], fit: Fit) -> list[float]:
    """Return the logarithm of measured over predicted for each setting that the model had not seen."""
    inner: list[float] = []
    outer: list[float] = []
    for place in range(0, len(observations), -(-len(observations) // MOST_LEFT_OUT)):
        observation = observations[place]
        rest = [*observations[:place], *observations[place + 1 :]]
        law = fit(rest) if len(rest) >= LEAST_SETTINGS - 1 else None
        if law is None:
            continue
        mended = math.log(law.at(observation.setting)[0]) + _miss_at(law, rest, observation.setting)
        miss = math.log(observation.rate) - mended
        (inner if _is_between(law, rest, observation.setting) else outer).append(miss)
    return inner if len(inner) >= LEAST_SETTINGS - 1 else inner + outer


def _axis(law: Law, observations: Sequence[Observation], key: str) -> list[tuple[float, float]]:
    """Return (place, miss) of the observations of a key in ascending order, those of one place averaged."""
    points = []
    for observation in observations:
        other, place = law.place(observation.setting)
        if other == key:
            points.append((place, math.log(observation.rate / law.at(observation.setting)[0])))
    points.sort()
    groups = [list(group) for _place, group in itertools.groupby(points, key=lambda point: round(point[0], 6))]
    return [(group[0][0], sum(miss for _place, miss in group) / len(group)) for group in groups]


def _miss_at(law: Law, observations: Sequence[Observation], setting: Mapping[str, float]) -> float:
    """Return the miss (logarithm) interpolated at a setting; beyond what was measured that of the nearest end."""
    key, place = law.place(setting)
    points = _axis(law, observations, key)
    if not points:
        return 0.0
    for (left, first), (right, second) in itertools.pairwise(points):
        if left <= place <= right:
            return first + (second - first) * (place - left) / (right - left)
    return points[0][1] if place < points[0][0] else points[-1][1]


def _is_between(law: Law, observations: Sequence[Observation], setting: Mapping[str, float]) -> bool:
    key, place = law.place(setting)
    places = [spot for spot, _miss in _axis(law, observations, key)]
    return bool(places) and min(places) < place < max(places)
