"""Figures that are all equal have no interval: not on pages, in charts, in reports or over REST."""

import itertools
import json
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench.comparison import Statistic, centre_of
from apps.bench.statistics import Evenness, Mean, Method
from apps.reports import drafts, serialisation, services
from apps.reports.document import Figure
from apps.reports.models import Report
from apps.testbeds.models import Node
from tests.archive.imports.conftest import ends, folder
from tests.archive.imports.test_not_told import GOODPUT, STREAMS, stored, table

__all__ = ["ends", "folder"]

# The second setting scatters, so that there are columns of intervals at all.
TABLE = b"streams,goodput\n1,52.1\n1,52.1\n1,52.1\n2,80\n2,82\n2,81\n"
# What rounding leaves of 52.1 Mbit/s.
ROUNDED = ("52050000", "52150000", "52.05", "52.15")


@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_centre_of_equal_figures_has_no_interval_of_whatever_kind(n: int) -> None:
    for kind, evenness in itertools.product(Mean, Evenness):
        centre = centre_of([52.1e6] * n, Statistic.MEAN, kind, evenness)
        assert (centre.value, centre.low, centre.high, centre.interval) == (pytest.approx(52.1e6), None, None, None)
        assert centre.method is Method.EQUAL


def test_text_table_chart_sheet_and_rest_say_the_same(
    cast: SimpleNamespace, ends: list[Node], client: Client
) -> None:
    campaign = stored(table(cast, TABLE, streams=STREAMS, goodput=GOODPUT), ends, alike=True)
    experiment = campaign.experiments.get()
    client.force_login(cast.oscar)
    rest = client.get(f"/api/v1/experiments/{experiment.pk}/results/?x=streams&metric=goodput").json()
    by_x = {group["x"]: (group["ci_low"], group["ci_high"], group["ci_method"]) for group in rest["groups"]}
    assert by_x[1] == (None, None, "equal") and None not in by_x[2]
    compared = f"set=campaign:{campaign.pk}&x=streams&metric=goodput"
    told = {
        "REST": json.dumps(rest),
        "comparison": json.dumps(client.get(f"/api/v1/comparison/?{compared}").json()["rows"]),
        "page of it": client.get(f"{reverse('comparison:compare')}?{compared}").content.decode(),
        "table": client.get(reverse("results:experiment_panel", args=[experiment.pk])).content.decode(),
        "chart": client.get(reverse("results:experiment_data", args=[experiment.pk])).content.decode(),
    }
    report = services.begin_report(campaign=campaign, user=cast.oscar, language="en")
    document = drafts.build(Report.objects.get(pk=report.pk), cast.oscar)
    told["report"] = serialisation.canonical(serialisation.as_json(document))
    assert "equal figures have no interval" in told["report"]
    assert {name for name, text in told.items() if any(end in text for end in ROUNDED)} == set()
    figures = [block for section in document.sections for block in blocks_of(section) if isinstance(block, Figure)]
    assert figures


def blocks_of(section):
    """Return the blocks of a section and of those within it."""
    return [*section.blocks, *(block for inner in section.sections for block in blocks_of(inner))]
