"""Evidence: what rules are given of a pair of ends, of a whole campaign, and of two sites over the archive."""

from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents.models import FactSnapshot
from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK
from apps.bench.toolkit import doubts as toolkit_doubts
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.results.evidence.lanes import lanes_of_campaign
from apps.results.models import Result
from apps.testbeds.models import Cluster, FileSystem, Node, Switch
from apps.tuning import evidence
from apps.tuning.evidence.storage import read_options
from tests import factories, rewriting, rows
from tests.campaigns import factories as make
from tests.results.factories import measure


@pytest.fixture
def served(cast: SimpleNamespace) -> SimpleNamespace:
    """Return clients at Daejeon and servers at Busan behind two switches, and a file system that the latter serve."""
    wan = make.wan(cast.team, pairs=2)
    clients, servers = make.cluster(cast.team, "clients", *wan.left), make.cluster(cast.team, "servers", *wan.right)
    return SimpleNamespace(wan=wan, clients=clients, servers=servers)


def file_system(served: SimpleNamespace, name: str, kind: str, by: Cluster | None, **values: str) -> FileSystem:
    made = FileSystem.objects.create(
        team=served.clients.team, name=name, kind=kind, server_cluster=by, mount_path=f"/{name}", **values
    )
    made.mounts.create(cluster=served.clients)
    return made


def stored(
    cast: SimpleNamespace, on: FileSystem | None, *nodes: Node, tool: str = "iozone", **samples: float
) -> Trial:
    """Return the one trial of a campaign on a file system, measured by nodes."""
    campaign = Campaign.objects.create(team=cast.team, name=on.name if on else tool, state="finished")
    experiment = Experiment.objects.create(campaign=campaign, name="io", tool=tool, file_system=on)
    lane = Lane.objects.create(
        experiment=experiment,
        roles={"client": [node.pk for node in nodes]},
        resources=[f"node:{node.pk}" for node in nodes],
    )
    trial = Trial.objects.create(
        campaign=campaign, experiment=experiment, lane=lane, position=0, point=0, repetition=1, parameters={}
    )
    measure(trial, **(samples or {"write": 1e8}))
    return trial


def test_points_say_who_measured_what_with_which_doubts(swept: Campaign) -> None:
    flag = {"name": "short", "severity": "warning", "message": {"msgid": "x", "params": {}}}
    rewriting.update(Result.objects.filter(tool="iperf3-tcp"), flags=[flag], observed={"tcp": {"mss": 8948}})
    (found,) = evidence.by_ends(swept).values()
    tcp = [point for point in found.points if point.tool == "iperf3-tcp"]
    assert {point.parameters["window"] for point in tcp} == {65536, 131072, 262144, 524288, 1048576, 2097152}
    for point in tcp:
        assert point.layer == NETWORK
        assert point.roles == {"client": ("kisti01",), "server": ("pnu01",)}
        assert point.observed == {"tcp": {"mss": 8948}}
        assert point.warnings == {"short"}
        assert point.flagged == {"short": frozenset(point.trials("goodput"))}
        assert len(point.trials("goodput")) == 3
        assert point.at and abs(point.at - timezone.now().timestamp()) < 3600
        assert point.campaign == swept.pk


@pytest.mark.parametrize("name", sorted(toolkit_doubts.HELD))
def test_what_a_limit_of_the_senders_held_is_no_evidence(swept: Campaign, name: str) -> None:
    before = evidence.of_campaign(swept).points
    flag = {"name": name, "severity": "warning", "message": {"msgid": "x", "params": {}}}
    rewriting.update(Result.objects.filter(tool="iperf3-tcp"), flags=[flag])
    after = evidence.of_campaign(swept).points
    assert {point.tool for point in before} - {"iperf3-tcp"} == {point.tool for point in after}
    own = {**flag, "metrics": ["goodput"]}
    rewriting.update(Result.objects.filter(tool="iperf3-tcp"), flags=[own])
    limited = [point for point in evidence.of_campaign(swept).points if point.tool == "iperf3-tcp"]
    assert limited
    assert not any("goodput" in point.metrics for point in limited)


def test_the_path_has_its_links_and_its_bottleneck(swept: Campaign) -> None:
    (found,) = evidence.by_ends(swept).values()
    assert [link.name for link in found.path.links] == ["WAN"]
    assert found.path.bottleneck == "WAN"
    assert found.path.capacity_bps == 1e9
    assert found.paths == {("kisti01", "pnu01"): found.path}
    assert found.path_between("pnu01", "kisti01") == found.path


def test_a_whole_campaign_is_the_sum_of_its_ends(cast: SimpleNamespace) -> None:
    wan = make.wan(cast.team, pairs=2)
    campaign = make.launched(cast, wan.left[0], wan.right)
    for trial in campaign.trials.all():
        measure(trial, goodput=1e8)
    wan.left[0].testbed.interconnect = "InfiniBand 4X QDR"
    wan.left[0].testbed.save()
    ends, whole = evidence.by_ends(campaign), evidence.of_campaign(campaign)
    assert len(ends) == 2
    assert len(whole.points) == sum(len(found.points) for found in ends.values()) == 4
    assert whole.paths.keys() == {("left0", "right0"), ("left0", "right1")}
    assert whole.interconnects["left0"] == "InfiniBand 4X QDR"


@pytest.mark.parametrize(
    ("kind", "serves", "layer"),
    [
        ("ext", True, DISK),
        ("xfs", True, DISK),
        ("other", True, DISK),
        ("gpfs", True, FILE_SYSTEM),
        ("ext", False, FILE_SYSTEM),
        ("other", False, FILE_SYSTEM),
    ],
)
def test_a_disk_is_what_its_own_server_measures(
    cast: SimpleNamespace, served: SimpleNamespace, kind: str, serves: bool, layer: str
) -> None:
    node = served.wan.right[0] if serves else served.wan.left[0]
    trial = stored(cast, file_system(served, "data", kind, served.servers), node)
    (point,) = evidence.of_campaign(trial.campaign).points
    assert point.layer == layer
    assert point.file_system == "data"


def test_a_local_file_system_that_nobody_is_said_to_serve_is_a_disk(
    cast: SimpleNamespace, served: SimpleNamespace
) -> None:
    for kind, layer in (("ext", DISK), ("other", FILE_SYSTEM)):
        trial = stored(cast, file_system(served, kind, kind, None), served.wan.left[0])
        assert evidence.of_campaign(trial.campaign).points[0].layer == layer


def test_a_file_system_has_its_servers_options_and_disks(cast: SimpleNamespace, served: SimpleNamespace) -> None:
    client = served.wan.left[0]
    mount = {"source": "s:/x", "target": "/data", "type": "nfs4", "options": "rw,vers=4.2,rsize=1048576"}
    facts = {"mounts": [{**mount, "target": "/"}, mount], "sysctls": {"net.core.rmem_max": "212992"}}
    FactSnapshot.objects.create(node=client, facts=facts, digest="x")
    on = file_system(served, "data", "nfs", served.servers, disks="8 × 250 GB SATA, 800 MB/s")
    found = evidence.of_campaign(stored(cast, on, client).campaign)
    described = found.file_systems["data"]
    assert described.servers == ("right0", "right1")
    assert described.options == {"rw": True, "vers": "4.2", "rsize": 1048576, "mount": "/data"}
    assert (described.disks, described.disk_rates) == (8, {"write": 800e6, "read": 800e6})
    assert found.facts["left0"]["sysctls"] == {"net.core.rmem_max": "212992"}
    assert found.path_between("left0", "right1").capacity_bps == 10**9


def test_local_file_systems_of_the_servers_are_known_though_nobody_measured_them(
    cast: SimpleNamespace, served: SimpleNamespace
) -> None:
    for name, kind, by in (("raid1", "ext", served.servers), ("raid2", "xfs", served.servers), ("old", "nfs", None)):
        file_system(served, name, kind, by)
    file_system(served, "far", "ext", served.clients)
    on = file_system(served, "data", "nfs", served.servers)
    stored(cast, FileSystem.objects.get(name="raid1"), *served.wan.right)
    trial = stored(cast, on, served.wan.left[0])
    found = evidence.of_campaign(trial.campaign)
    # Two of them may lie beneath: had only the one that was measured been known, it would have been taken for it.
    assert found.file_systems.keys() == {"data", "raid1", "raid2"}
    assert found.file_systems["raid2"].servers == ("right0", "right1")


def test_mount_options_are_switches_texts_and_numbers() -> None:
    assert read_options("ro,sec=sys,,wsize=8192") == {"ro": True, "sec": "sys", "wsize": 8192}


def test_two_sites_have_what_was_measured_between_or_at_them(cast: SimpleNamespace, served: SimpleNamespace) -> None:
    here, there = served.wan.left[0].testbed.site, served.wan.right[0].testbed.site
    elsewhere = make.nodes(cast.team, "far", site="Seoul")[0]
    on = file_system(served, "data", "gpfs", served.servers)
    both, disk = stored(cast, on, served.wan.left[0]), stored(cast, on, *served.wan.right)
    stored(cast, on, elsewhere)
    away = file_system(served, "away", "gpfs", make.cluster(cast.team, "far", elsewhere))
    stored(cast, away, served.wan.left[0])
    found = evidence.between_sites(here, there)
    assert sorted(trial for point in found.points for trial in point.trials("write")) == sorted([both.pk, disk.pk])
    assert evidence.between_sites(there, here).points == found.points
    latest = evidence.between_sites(here, there, most_results=1)
    assert [point.trials("write") for point in latest.points] == [(disk.pk,)]


def test_a_campaign_that_is_being_deleted_is_no_evidence_of_sites(
    cast: SimpleNamespace, served: SimpleNamespace
) -> None:
    trial = stored(cast, file_system(served, "data", "gpfs", served.servers), served.wan.left[0])
    Campaign.objects.filter(pk=trial.campaign_id).update(deleting_at=timezone.now())
    sites = served.wan.left[0].testbed.site, served.wan.right[0].testbed.site
    assert evidence.between_sites(*sites).points == ()


def test_evidence_costs_the_same_queries_however_much_was_measured(
    cast: SimpleNamespace, django_assert_max_num_queries
) -> None:
    wan = make.wan(cast.team, pairs=3)
    campaign = make.launched(cast, wan.left, wan.right)
    for trial in campaign.trials.all():
        measure(trial, goodput=1e8)
    with django_assert_max_num_queries(13):
        assert len(evidence.by_ends(campaign)) == 9
    with django_assert_max_num_queries(12):
        evidence.of_campaign(campaign)


def test_another_team_sees_nothing_of_it(cast: SimpleNamespace, swept: Campaign) -> None:
    other = factories.team("others")
    left, right = make.nodes(other, "a")[0], make.nodes(other, "b", site="Busan")[0]
    make.link(Switch.objects.create(team=other, name="s", site=left.testbed.site), left, "l")
    assert evidence.between_sites(left.testbed.site, right.testbed.site).points == ()


def test_only_lanes_between_measured_ends_are_read(cast: SimpleNamespace) -> None:
    sides = [make.nodes(cast.team, *(f"{side}{number}" for number in range(4))) for side in ("here", "there")]
    clusters = [make.cluster(cast.team, f"side {number}", *nodes) for number, nodes in enumerate(sides)]
    campaign = make.launched(cast, *clusters, factors=[], repetitions=1)
    rows.know_tables()
    assert rows.of(lambda: evidence.by_ends(campaign), "campaigns_lane").read == 0
    assert evidence.of_campaign(campaign).points == ()
    lane = campaign.experiments.get().lanes.all()[5]
    measure(lane.trials.get(), goodput=9e8)
    assert list(lanes_of_campaign(campaign)) == [lane.pk]
    assert len(evidence.by_ends(campaign)) == 1
