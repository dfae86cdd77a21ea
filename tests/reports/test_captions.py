"""Metrics stand under their labels wherever a document names them, in its language, whatever tool measured them."""

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.utils import translation
from django.utils.translation import gettext

from apps.bench.tools import all_tools
from apps.reports import campaign as reports
from apps.reports import overview, serialisation
from apps.reports.campaign import within
from apps.results.models import Result, Series
from tests.reports import whole
from tests.reports.overview.conftest import NOW, WHOLE, make_quarter

METRICS = {metric.name: metric.label for tool in all_tools() for metric in tool.metrics}
# What a reader never sees: keys, references, and how charts and claims name things among themselves.
UNSEEN = {"key", "ref", "name", "table", "claim", "relation", "type", "rests_on", "figures", "unit"}


def shown_in(data: object) -> Iterator[str]:
    """Yield the texts of a document's JSON that its readers see."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for name, value in data.items():
            if name not in UNSEEN:
                yield from shown_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from shown_in(value)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_metric_stands_under_its_own_name_or_in_another_language(
    cast: SimpleNamespace, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else the first two would be drawn alone.
    monkeypatch.setattr(within, "MOST_METRICS", len(METRICS))
    make_quarter(cast)
    campaign = whole.campaign(cast)
    # Every metric that a tool may have over time, though it is none of its own figures.
    course = {"unit": "bit/s", "times": [0.0, 1.0, 2.0], "values": [1e8, 2e8, 3e8]}
    result = Result.objects.filter(experiment__campaign=campaign, tool="iperf3-udp").order_by("pk").last()
    Series.objects.filter(result=result).delete()
    named = [name for name in METRICS if "_" in name]
    Series.objects.bulk_create(Series(result=result, metric=name, **course) for name in named)
    documents = [
        reports.build([campaign], user=cast.bob, language=language, baseline=campaign),
        overview.build(team=cast.team, selection=WHOLE, language=language, now=NOW),
    ]
    raw = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, sorted(named, key=len, reverse=True)))})(?![\w.])")
    with translation.override(language):
        other = {label for label in METRICS.values() if language != "en" and gettext(label) != label}
    for document in documents:
        texts = list(shown_in(serialisation.as_json(document)))
        assert [text for text in texts if raw.search(text)] == []
        assert [text for text in texts if text in other] == []


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.slug)
def test_each_metric_of_each_tool_has_a_label_in_words(tool) -> None:
    assert [metric.name for metric in tool.metrics if metric.label == metric.name or "_" in metric.label] == []
    with translation.override("ko"):
        assert [metric.label for metric in tool.metrics if not gettext(metric.label)] == []
