"""What the check lets through is drawn: of a chart that a reader sent the drawing program never dies."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from apps.comparison.figures import checks
from apps.comparison.figures.program import __main__ as program
from apps.comparison.figures.program import look
from tests.comparison.figures import charts
from tests.comparison.figures.test_checking import changed

ODD: tuple[object, ...] = (
    *(..., None, "", [], {}, "x", "time", "NaN", "x" * 100_000, "\ud800"),
    *(True, False, -1, 0, 0.5, 1e308, 1e100, 1e-320, 10**30, [1], [[]], [[1]]),
)
# A file takes some 0.1 s of a processor, so each kind has so many; without a file all are drawn.
FILES_EACH = 6
PAIRS_EACH = 30


def paths_of(value: Any, way: str = "") -> Iterator[str]:
    """Yield "series.0.label" for each part; of the items of a list the first and the last, which are like the others.

    The first has all that an item may have, the last as little as one can.
    """
    if way:
        yield way
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for name, item in items if isinstance(value, dict) else dict(items[:1] + items[-1:]).items():
        yield from paths_of(item, f"{way}.{name}" if way else str(name))


def is_accepted(chart: dict[str, Any]) -> bool:
    try:
        checks.check_chart(chart)
    except checks.ChartError:
        return False
    return True


def odd_charts(chart: dict[str, Any], chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the check accepts of the chart with each part changed to each odd value, then of some with two."""
    accepted = []
    for path in paths_of(chart):
        odd = [(value, changed(chart, path, value)) for value in ODD]
        taken = [(value, changed_chart) for value, changed_chart in odd if is_accepted(changed_chart)]
        # Of a part that may be anything one value of each type is enough.
        few = {type(value): (value, changed_chart) for value, changed_chart in taken}.values()
        for value, changed_chart in few if len(taken) == len(ODD) else taken:
            accepted.append((f"{path} = {value!r:.32}", changed_chart))
    yield from accepted
    for change, odd in chance.choices(accepted, k=PAIRS_EACH):
        path, value = chance.choice(list(paths_of(odd))), chance.choice(ODD)
        if is_accepted(odder := changed(odd, path, value)):
            yield f"{change}, {path} = {value!r:.32}", odder


def death_of(chart: dict[str, Any], *, to_file: bool) -> str:
    """Return what the program dies of, "" if it draws the chart."""
    try:
        sent = program.read(json.dumps(chart).encode())
        if to_file:
            program.draw(sent, "svg")
        else:
            program.DRAW[sent.get("kind", "line")](look.figure_for(sent), sent)
    except Exception as error:
        return repr(error)[:80]
    return ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", charts.ALL)
def test_an_odd_chart_is_refused_or_drawn(name: str) -> None:
    chance = random.Random(name)
    odd = dict(odd_charts(charts.ALL[name], chance))
    assert len(odd) > FILES_EACH
    files = set(chance.sample(list(odd), FILES_EACH))
    deaths = {change: death_of(chart, to_file=change in files) for change, chart in odd.items()}
    assert {change: death for change, death in deaths.items() if death} == {}
