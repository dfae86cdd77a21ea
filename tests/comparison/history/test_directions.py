"""Histories and comparisons name who sends and who receives, and both ways where data went both."""

from types import SimpleNamespace

import pytest

from apps.campaigns.models import Campaign
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.comparison.history import series
from apps.testbeds.models import Node
from tests.comparison.history.conftest import START, WEEK, measured

FORTH, BACK, BOTH = "kisti01 → pnu01", "pnu01 → kisti01", "kisti01 ↔ pnu01"


@pytest.mark.parametrize(
    ("directions", "nodes"), [(("forward",), FORTH), (("reverse",), BACK), (("forward", "reverse"), BOTH)]
)
def test_what_is_listed_names_the_direction_of_the_data(
    directions: tuple[str, ...], nodes: str, cast: SimpleNamespace, pair: list[Node]
) -> None:
    for place, direction in enumerate(directions):
        measured(cast, pair, 940e6, START + place * WEEK, fixed={"direction": direction})
    (history,) = series.known_histories(cast.bob)
    assert history.nodes == nodes


@pytest.mark.parametrize(("direction", "nodes"), [("forward", FORTH), ("reverse", BACK)])
def test_a_comparison_names_it_too(direction: str, nodes: str, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign: Campaign = measured(cast, pair, 940e6, START, fixed={"direction": direction})
    comparison = compare(gather(choose(ComparisonState(sets=(ResultSet((("campaign", campaign.pk),)),)), cast.bob)))
    rows = [row for rows in comparison.gathering.figures.rows for row in rows]
    assert {comparison.gathering.figures.pairs[row.lane] for row in rows} == {nodes}
