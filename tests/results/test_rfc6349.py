"""RFC 6349's metrics of stored runs, held against the capacity of the inventory's links."""

import re

import pytest
from django.urls import reverse

from apps.bench import tools
from apps.campaigns.models import Campaign
from apps.results import charts, queries
from apps.results.models import Result, Sample
from apps.testbeds.models import Link
from tests.campaigns import factories as make
from tests.pages import flat
from tests.results.measuring import carry_out_all
from tests.testbeds import factories as inventory


def test_each_tcp_run_is_held_against_the_links_it_took(measured: Campaign) -> None:
    ratios = Sample.objects.filter(metric="transfer_time_ratio").order_by("trial__point", "pk")
    # 64 KiB reach a seventh of the link of 1 Gbit/s, 1 MiB all of it.
    assert [round(sample.value, 1) for sample in ratios] == pytest.approx([7.1, 7.1, 1.0, 1.0], abs=0.4)
    kept = Result.objects.first().observed["rfc6349"]
    assert kept["bottleneck"] == 1e9
    assert kept["bottleneck_source"] == "inventory"
    assert Sample.objects.filter(metric="tcp_efficiency").count() == 4


def test_a_link_of_unknown_capacity_leaves_the_ratio_out(pair, cast) -> None:
    Link.objects.update(capacity_bps=None)
    make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"})
    carry_out_all()
    assert not Sample.objects.filter(metric="transfer_time_ratio").exists()
    assert Sample.objects.filter(metric="tcp_efficiency").count() == 4


def test_without_a_baseline_of_an_idle_path_there_is_no_buffer_delay(measured) -> None:
    assert not Sample.objects.filter(metric="buffer_delay").exists()
    assert all("baseline_rtt" not in result.observed["rfc6349"] for result in Result.objects.all())


def test_the_links_to_a_file_system_s_servers_are_not_on_its_path(cast, pair, monkeypatch) -> None:
    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "file_system", "optional")
    (server,) = make.nodes(cast.team, "nsd01")
    make.link(pair[0], server, "LAN", capacity_bps=None)
    clients, servers = inventory.cluster(cast.team, "", pair[0]), inventory.cluster(cast.team, "", server)
    gpfs = inventory.file_system(cast.team, "gpfs", clients, server_cluster=servers)
    make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"}, repetitions=1, file_system=gpfs)
    carry_out_all()
    assert [kept["rfc6349"]["bottleneck"] for kept in Result.objects.values_list("observed", flat=True)] == [1e9, 1e9]


def test_shares_are_shown_in_per_cent_and_what_was_not_given_as_such(client, measured, cast) -> None:
    client.force_login(cast.bob)
    page = flat(client.get(reverse("results:trial", args=[measured.trials.first().pk])).content.decode())
    shown = dict(re.findall(r'<th scope="row" class="fw-normal">([^<]+)</th><td class="text-end">([^<]+)</td>', page))
    assert re.fullmatch(r"(100|99\.\d+) %", shown["TCP efficiency (RFC 6349)"].strip())
    assert "Buffer delay (RFC 6349)" not in shown
    assert re.fullmatch(r"\d\.\d+", shown["Transfer-time ratio (RFC 6349)"].strip())
    for name in ("Bottleneck bandwidth", "Baseline RTT", "MSS"):
        assert f'{name}</dt><dd class="col-7">not given</dd>' in page


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [("iperf3-tcp", "window", "autotuned"), ("iozone", "clients", "all"), ("ping", "interval", "0 s")],
)
def test_a_zero_says_what_it_means(tool: str, name: str, text: str) -> None:
    parameter = queries.parameter_of(tools.get(tool), name)
    assert charts.text_of(parameter, 0, {}) == text


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_every_rate_and_time_that_need_not_be_given_says_what_its_zero_means(tool) -> None:
    unset = [item for item in tool.parameters if item.kind in ("rate", "duration") and not item.default]
    assert all(item.zero for item in unset)
