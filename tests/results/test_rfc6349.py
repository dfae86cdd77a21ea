"""RFC 6349's metrics of stored runs, held against the capacity of the inventory's links."""

import pytest

from apps.campaigns.models import Campaign
from apps.results.models import Result, Sample
from apps.testbeds.models import Link


def test_each_tcp_run_is_held_against_the_links_it_took(measured: Campaign) -> None:
    ratios = Sample.objects.filter(metric="transfer_time_ratio").order_by("trial__point", "pk")
    # 64 KiB reach a seventh of the link of 1 Gbit/s, 1 MiB all of it.
    assert [round(sample.value, 1) for sample in ratios] == pytest.approx([7.1, 7.1, 1.0, 1.0], abs=0.4)
    kept = Result.objects.first().observed["rfc6349"]
    assert kept["bottleneck"] == 1e9
    assert kept["bottleneck_source"] == "inventory"
    assert Sample.objects.filter(metric="tcp_efficiency").count() == 4


@pytest.mark.django_db
def test_a_link_of_unknown_capacity_leaves_the_ratio_out(pair, cast, request) -> None:
    Link.objects.update(capacity_bps=None)
    request.getfixturevalue("measured")
    assert not Sample.objects.filter(metric="transfer_time_ratio").exists()
    assert Sample.objects.filter(metric="buffer_delay").count() == 4
