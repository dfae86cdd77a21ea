"""What the product says of an experiment's figures: cells with intervals, contrasts, and the report's sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.reports.campaign import material, single, swept
from apps.reports.claims import words
from apps.reports.document import Block, Figure, Paragraph, Sentence, Table
from benchmarks.truth.statements import Statement
from benchmarks.truth.store import Stored
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
            state = ComparisonState(
                sets=(ResultSet(numbers=(("experiment", pk),)),),
                metric=metric,
                axis=name,
                base_axis=str(setup.cells[0].parameters[name]),
            )
            comparison = swept.told_apart(state, user)
            truth = {cell.parameters[name]: cell.truth[metric] for cell in setup.cells}
            yield Drawn(setup, metric, comparison, truth)


def sentences_of(drawn: Drawn) -> Iterator[Statement]:
    """Yield each sentence under the figure by what it claims."""
    figure = swept.figure("oracle", drawn.made, drawn.setup.name)
    if not isinstance(figure, Figure):
        return
    places = {drawn.made.axis.text(value): value for value in drawn.made.axis.values}
    # What a sentence says is said of the places that have figures which count.
    drawn_places = {cell.x for cell in drawn.made.cells}
    truth = {place: value for place, value in drawn.truth.items() if place in drawn_places}
    for sentence in figure.says:
        fields = {
            "msgid": sentence.text,
            "words": dict(sentence.claim.says),
            "places": places,
            "truth": truth,
            "metric": drawn.metric,
            "setup": drawn.setup,
            "n": max(len(cell.trials) for cell in drawn.setup.cells),
        }
        yield Statement(SENTENCE, sentence.claim.relation, fields, about=drawn.setup.name)


def beside_each_other(stored: Stored, user: User) -> Iterator[Statement]:
    """Yield the sentences of the report under measurements that vary nothing, of one tool side by side."""
    setups = {setup.name: setup for setup in stored.experiments.values()}
    for _number, section in single.sections(material.read([stored.campaign], user)):
        tables = {block.key: block for block in section.blocks if isinstance(block, Table)}
        for sentence in _said(section.blocks):
            names = {str(row[0]) for row in tables[sentence.claim.topic.table].rows}
            alike = {(setups[name].file_system, str(setups[name].roles)) for name in names if name in setups}
            if len(names) > 1 and sentence.claim.relation != words.UNLIKE:
                fields = {"msgid": sentence.text, "words": dict(sentence.claim.says), "kinds": len(alike)}
                yield Statement(SENTENCE, ACROSS, fields)


def _said(blocks: Iterable[Block]) -> Iterator[Sentence]:
    for block in blocks:
        if isinstance(block, Figure):
            yield from block.says
        elif isinstance(block, Paragraph):
            yield from (part for part in block.parts if isinstance(part, Sentence))


def contrasts_of(drawn: Drawn) -> Iterator[Statement]:
    """Yield what a comparison says of each cell against its baseline."""
    base = next((cell.x for cell in drawn.made.cells if cell.is_baseline), None)
    for cell in drawn.made.cells:
        if cell.contrast is None or base not in drawn.truth or cell.x not in drawn.truth:
            continue
        contrast = cell.contrast
        fields = {
            "ratio": drawn.truth[cell.x] / drawn.truth[base],
            "low": contrast.difference.ratio_low,
            "high": contrast.difference.ratio_high,
            "confidence": contrast.difference.confidence,
            "n": cell.n,
        }
        yield Statement(CONTRAST, contrast.verdict.value, fields, about=drawn.setup.name)
