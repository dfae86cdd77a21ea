"""RFC 6349's metrics of stored runs, held against the capacity of the inventory's links."""

import pytest

from apps.bench import tools
from apps.campaigns.models import Campaign
from apps.results.models import Result, Sample
from apps.testbeds.models import Link
from tests.campaigns import factories as make
from tests.results.conftest import carry_out_all
from tests.testbeds import factories as inventory


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


def test_the_links_to_a_file_system_s_servers_are_not_on_its_path(cast, pair, monkeypatch) -> None:
    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "file_system", "optional")
    (server,) = make.nodes(cast.team, "nsd01")
    make.link(pair[0], server, "LAN", capacity_bps=None)
    clients, servers = inventory.cluster(cast.team, "", pair[0]), inventory.cluster(cast.team, "", server)
    gpfs = inventory.file_system(cast.team, "gpfs", clients, server_cluster=servers)
    make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"}, repetitions=1, file_system=gpfs)
    carry_out_all()
    assert [kept["rfc6349"]["bottleneck"] for kept in Result.objects.values_list("observed", flat=True)] == [1e9, 1e9]
