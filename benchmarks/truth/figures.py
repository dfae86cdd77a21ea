"""What the product says of an experiment's figures: cells with intervals, contrasts, and the report's sentences."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

from apps.accounts.models import User
from apps.reports.campaign import material, sentences, single, swept
from apps.results.comparison import drawing
from apps.results.comparison.building import Comparison
from apps.results.comparison.sets import ResultSet
from apps.results.comparison.state import State
from benchmarks.truth.asking import Statement
from benchmarks.truth.storing import Stored
from benchmarks.truth.worlds.base import Setup

SENTENCE, CONTRAST = "sentence", "contrast"
# Sentences about several measurements that have nothing in common but the tool.
ACROSS = "across-measurements"
# The figures of each tool that a report draws first.
DRAWN = {"iperf3-tcp": ("goodput",), "iozone": ("write", "read"), "mpi-contention": ("aggregate",)}


@dataclass(frozen=True)
class Drawn:
    """One comparison of an experiment's figures; `truth` {value of the axis: true mean}."""

    setup: Setup
    metric: str
    made: Comparison
    truth: dict[Any, float]


def comparisons(stored: Stored, user: User) -> Iterator[Drawn]:
    """Yield the comparisons that the report of the campaign draws, of experiments that vary one thing."""
    for pk, setup in stored.experiments.items():
        if len(setup.factors) != 1 or len(setup.cells) < 2:
            continue
        for metric in DRAWN.get(setup.tool, ()):
            # Against the first point, so that each of the others has its contrast.
            name = setup.factors[0]
            state = State(
                sets=(ResultSet(numbers=(("experiment", pk),)),),
                metric=metric,
                axis=name,
                base_axis=str(setup.cells[0].parameters[name]),
            )
            made = swept.told_apart(state, user)
            truth = {cell.parameters[name]: cell.truth[metric] for cell in setup.cells}
            yield Drawn(setup, metric, made, truth)


def sentences_of(drawn: Drawn) -> Iterator[Statement]:
    """Yield each sentence under the figure by its msgid and parameters."""
    charts = drawing.charts_of(drawn.made)
    if not charts or not drawn.made.metric:
        return
    text, told = _recorded(swept.shown_of(drawn.made, charts[0][1]))
    places = {drawn.made.axis.text(value): value for value in drawn.made.axis.values}
    for msgid, words in told:
        if not words and msgid not in text:
            # It was only one of the choices.
            continue
        fields = {
            "msgid": msgid,
            "words": words,
            "places": places,
            "truth": drawn.truth,
            "metric": drawn.metric,
            "setup": drawn.setup,
            "beside": [name_of(other) for other, _words in told if other in text or _words],
            "n": max(len(cell.trials) for cell in drawn.setup.cells),
        }
        yield Statement(SENTENCE, name_of(msgid), fields, about=drawn.setup.name)


def beside_each_other(stored: Stored, user: User) -> Iterator[Statement]:
    """Yield the sentences of the report under measurements that vary nothing, of one tool side by side."""
    told: list[tuple[sentences.Shown, Told]] = []
    of = sentences.of

    def record(shown: sentences.Shown) -> str:
        text, found = _recorded(shown, of)
        told.append((shown, found))
        return text

    with mock.patch.object(sentences, "of", record):
        list(single.sections(material.read([stored.campaign], user)))
    setups = {setup.name: setup for setup in stored.experiments.values()}
    for shown, found in told:
        names = {point.text for curve in shown.curves for point in curve.points}
        alike = {(setups[name].file_system, str(setups[name].roles)) for name in names if name in setups}
        for msgid, words in found:
            if len(names) > 1 and words:
                yield Statement(SENTENCE, ACROSS, {"msgid": msgid, "words": words, "kinds": len(alike)})


Told = list[tuple[str, dict[str, Any]]]


def _recorded(shown: sentences.Shown, of: Callable[[sentences.Shown], str] = sentences.of) -> tuple[str, Told]:
    """Return what is said of a figure, and each sentence by its msgid and parameters."""
    told: Told = []

    class Recorded(str):
        """A text that notes what it is filled with."""

        __slots__ = ()

        def __mod__(self, words: Any) -> str:
            told.append((str(self), dict(words)))
            return super().__mod__(words)

    def record(text: str) -> str:
        if "%(" not in text:
            told.append((text, {}))
        return Recorded(text)

    with mock.patch.object(sentences, "_", record):
        return of(shown), told


# What the sentences are called in the tables, by words of their msgids.
NAMES = (
    ("levels off", "levels-off"),
    ("grows from", "grows"),
    ("falls from", "falls"),
    ("hardly depends", "flat"),
    ("about the same", "flat"),
    ("and lowest at", "highest-of-words"),
    ("is highest", "best-at"),
    ("is significant", "significant"),
    ("may be chance", "chance"),
    ("too few figures", "too-few"),
    ("path's ceiling", "ceiling"),
)


def name_of(msgid: str) -> str:
    """Return what a sentence is called, its msgid where it has no name."""
    return next((name for words, name in NAMES if words in msgid), msgid[:40])


def contrasts_of(drawn: Drawn) -> Iterator[Statement]:
    """Yield what a comparison says of each cell against its baseline."""
    base = next((cell.x for cell in drawn.made.cells if cell.is_baseline), None)
    for cell in drawn.made.cells:
        if cell.contrast is None or base not in drawn.truth or cell.x not in drawn.truth:
            continue
        found = cell.contrast
        fields = {
            "ratio": drawn.truth[cell.x] / drawn.truth[base],
            "low": found.difference.ratio_low,
            "high": found.difference.ratio_high,
            "n": cell.n,
        }
        yield Statement(CONTRAST, found.verdict.value, fields, about=drawn.setup.name)
