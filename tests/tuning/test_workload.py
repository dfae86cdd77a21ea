"""The page that says which file system serves a workload."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.testbeds.models import FileSystem
from benchmarks.truth.store import store
from benchmarks.truth.worlds.base import Cell, Setup, StatedFileSystem, StatedNode, Trial, World
from benchmarks.truth.worlds.noise import Noise
from tests import factories
from tests.tuning import published

SIZES = {"pattern": "write", "file_size": "4 GiB", "nodes": "9", "tasks": "1"}


@pytest.fixture
def figures(cast: SimpleNamespace) -> None:
    """Have the published figures of a file system whose aggregate grows with the tasks."""
    published.load(cast.team, published.case("write-grows-with-tasks"))


def ask(client: Client, cast: SimpleNamespace, **texts: str) -> object:
    return client.get(reverse("tuning:workload"), {"team": cast.team.pk, **SIZES, **texts})


def test_the_form_comes_first(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:workload")).content.decode()
    assert 'name="file_size"' in page
    assert "is-invalid" not in page


def test_nine_nodes_get_what_nine_tasks_got(client: Client, cast: SimpleNamespace, figures: None) -> None:
    client.force_login(cast.bob)
    fits = ask(client, cast, wanted="90 MB/s", total="1 TiB").context["fits"]
    assert fits[0].rate == pytest.approx(101e6, rel=0.1)
    assert fits[0].seconds == pytest.approx(2**40 / fits[0].rate)


def test_without_measurements_it_leads_to_one(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = ask(client, cast).content.decode()
    assert reverse("campaigns:recipe", args=["storage-clients"]) in page


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("file_size", ""), ("file_size", "much"), ("file_size", "0"), ("file_size", "9999999999999 TiB"),
        ("nodes", "0"), ("nodes", "x"), ("tasks", "-1"), ("pattern", "sideways"), ("record_size", "-1 B"),
        ("wanted", "fast"),
        ("file_system", "999"), ("team", "999"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_at_its_field(client: Client, cast: SimpleNamespace, field: str, text: str) -> None:
    client.force_login(cast.bob)
    answer = ask(client, cast, **{field: text})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors


def test_a_file_system_of_another_team_is_refused(client: Client, cast: SimpleNamespace) -> None:
    other = factories.team("Elsewhere", viewer=cast.bob)
    theirs = FileSystem.objects.create(team=other, name="theirs", kind="nfs", mount_path="/theirs")
    client.force_login(cast.bob)
    assert "file_system" in ask(client, cast, file_system=str(theirs.pk)).context["form"].errors


def test_an_operator_drafts_the_measurement_and_a_viewer_does_not(
    client: Client, cast: SimpleNamespace, figures: None
) -> None:
    client.force_login(cast.oscar)
    fits = ask(client, cast, nodes="2").context["fits"]
    place = next(place for place, fit in enumerate(fits) if fit.proposal)
    query = "&".join(f"{name}={value}" for name, value in {"team": cast.team.pk, **SIZES, "nodes": 2}.items())
    address = f"{reverse('tuning:workload_draft')}?{query}"
    answer = client.post(address, {"fit": place})
    made = Campaign.objects.latest("pk")
    assert answer.url == reverse("campaigns:campaign_detail", args=[made.pk])
    assert made.state == "draft"
    for wrong in ("", "99", "x"):
        assert "choose again" in client.post(address, {"fit": wrong}, follow=True).content.decode()
    client.force_login(cast.bob)
    assert client.post(address, {"fit": place}).status_code == 403
    client.force_login(cast.charlie)
    assert client.post(address, {"fit": place}, follow=True).status_code == 422
    client.logout()
    assert client.post(address, {"fit": place}).status_code == 302
    assert client.get(reverse("tuning:workload")).status_code == 302


def test_it_takes_few_queries(
    client: Client, cast: SimpleNamespace, figures: None, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(30):
        ask(client, cast)


def test_what_the_published_findings_refute_is_sold_to_nobody(client: Client, cast: SimpleNamespace) -> None:
    """NFS over the WAN falls as clients are added, and gave more than its disks do at times."""
    published.load(cast.team)
    client.force_login(cast.bob)
    for pattern in ("read", "write"):
        for nodes in ("1", "16"):
            fits = ask(
                client, cast, pattern=pattern, nodes=nodes, file_size="64 GiB", wanted="25 MB/s", file_system=""
            ).context["fits"]
            assert fits
            for fit in fits:
                assert fit.answer != "serves" or (fit.low >= 25e6 and not fit.doubts)
                if fit.file_system == "NFS_PGFS" and nodes == "16":
                    assert fit.serves is not True
                    assert any("printed to fall" in str(line) for line in fit.doubts)


@pytest.mark.parametrize("is_measured", [False, True])
def test_what_tcp_refutes_serves_nobody_though_no_link_is_described(
    client: Client, cast: SimpleNamespace, is_measured: bool
) -> None:
    """3 GB/s of a file system whose network was measured to carry 941 Mbit/s, in another experiment."""
    rates = {"write": [2990e6, 3000e6, 3010e6]}
    fixed = {"record_size": 1048576, "threads": 1, "file_size": 2**28}
    cell = Cell(fixed, {"write": 3e9}, [Trial({"write": rate}) for rate in rates["write"]])
    tcp = [
        Cell({"window": 0, "streams": streams, "direction": "forward", "duration": 10}, {"goodput": 941e6},
             [Trial({"goodput": rate + 1e5 * streams}) for rate in (940.8e6, 941.1e6, 941e6)])
        for streams in (1, 4)
    ]  # fmt: skip
    setups = [Setup("io", "iozone", {"client": ("c1",)}, [cell], ("record_size",), "home")]
    if is_measured:
        setups.append(Setup("tcp", "iperf3-tcp", {"client": ("c1",), "server": ("s1",)}, tcp, ("streams",)))
    world = World(
        seed=1, noise=Noise(kind="normal", cv=0.02), repetitions=3,
        nodes=(StatedNode("c1", "A"), StatedNode("s1", "B")), switches=(), links=(),
        file_systems=(StatedFileSystem("home", "nfs", ("s1",), ("c1",), None, ""),), setups=tuple(setups),
    )  # fmt: skip
    store(world, cast.team, timezone.now())
    client.force_login(cast.bob)
    answer = ask(client, cast, file_size="64 GiB", nodes="1", wanted="1 GB/s")
    assert [fit.answer for fit in answer.context["fits"]] == ([] if is_measured else ["may-serve"])
    assert (b"may serve it" in answer.content) is not is_measured
