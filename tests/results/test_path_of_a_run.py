"""A trial's page: the path around each run, the route, and what RFC 6349's metrics were held against."""

import dataclasses
from types import SimpleNamespace

from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.results import charts, queries
from apps.results.models import Result
from apps.results.theory import theory_of
from apps.toolbox import queries as toolbox
from tests import rewriting

LOOK = {"rtt_min": 0.0048, "rtt_mean": 0.005, "loss": 0.25, "route": [["10.0.0.1"], [], ["10.0.2.1", "10.0.2.5"]]}


def page_of(client: Client, campaign: Campaign, cast: SimpleNamespace, **observed: object) -> str:
    result = Result.objects.order_by("pk").first()
    assert result is not None
    rewriting.update(Result.objects.filter(pk=result.pk), observed={**result.observed, **observed})
    client.force_login(cast.bob)
    return client.get(reverse("results:trial", args=[result.trial_id])).content.decode()


def test_the_path_before_and_after_is_shown(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    page = page_of(client, measured, cast, context={"before": LOOK, "after": {"loss": 1.0}})
    assert "The path just before and just after the run" in page
    assert "10.0.0.1 → * → 10.0.2.1/10.0.2.5" in page
    assert "4.80 ms" in page
    assert "25 %" in page
    assert "100 %" in page


def test_the_route_that_a_tool_saw_is_shown(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    page = page_of(client, measured, cast, route=[["10.9.0.1"], ["10.9.0.2"]])
    assert "10.9.0.1 → 10.9.0.2" in page
    assert "The path just before" not in page


def test_what_the_metrics_are_held_against_is_said(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    page = page_of(client, measured, cast)
    assert "a bottleneck of 1.000 Gbit/s" in page
    assert "the lowest capacity of the links in the inventory" in page
    assert "No buffer delay: it needs the RTT of the idle path and the mean RTT under load." in page
    assert "baseline RTT" not in page


def test_a_ceiling_is_drawn_in_the_unit_of_the_metric(measured: Campaign) -> None:
    experiment = measured.experiments.get()
    tool, theory = toolbox.get_tool("gridftp"), theory_of(experiment)
    metric = queries.metrics_of(tool)[0]
    table = dataclasses.replace(queries.table_of(experiment, metric=metric), groups=())
    (line, *_rest) = charts.chart_of(table, tool, {}, theory)["lines"]
    assert line["value"] == theory.ceiling_bps / 8
    assert "MB/s" in line["label"]
