"""A part of a comparison that cannot be computed is named, and the others stand."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.bench import comparison, statistics
from apps.campaigns.models import Campaign
from apps.comparison.comparisons.presentation import charts
from tests.comparison.comparisons.conftest import address
from tests.factories import signed_in
from tests.reports.test_report_api import Caller

WORDS = "{} could not be computed (ValueError: math domain error); the other parts are complete."


def failing(*_asked: object, **_named: object) -> None:
    raise ValueError("math domain error")


def pieces(before: Campaign, after: Campaign, cast: SimpleNamespace) -> tuple[str, Any]:
    page = address(before, after)
    text = signed_in(cast.bob).get(page).content.decode()
    return text, Caller(cast.bob)("GET", page.replace("/compare/", "/api/v1/comparison/"), status=200)


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        (comparison, "contrast", "The comparison with the baseline"),
        (statistics, "compare_strata", "The comparison with the baseline"),
        (statistics, "explain_variance", "Which factors matter"),
    ],
)
def test_a_part_that_fails_is_a_remark_on_the_page_and_over_rest(
    before: Campaign,
    after: Campaign,
    cast: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    words: str,
) -> None:
    whole = pieces(before, after, cast)[1]
    monkeypatch.setattr(module, name, failing)
    text, told = pieces(before, after, cast)
    assert WORDS.format(words) in text
    assert "data-chart=" in text
    assert {"level": "caution", "text": WORDS.format(words)} in told["remarks"]
    assert [row["value"] for row in told["rows"]] == [row["value"] for row in whole["rows"]]


def test_a_chart_that_cannot_be_drawn_leaves_the_table(
    before: Campaign, after: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "charts_of", failing)
    text, told = pieces(before, after, cast)
    assert WORDS.format("The chart") in text
    assert "data-chart=" not in text
    assert told["rows"]
