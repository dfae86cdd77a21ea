"""Experiments that write to a file system: who may, who must, and what a run keeps to itself."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from apps.bench import tools
from apps.bench.text import Message
from apps.campaigns import services
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import expand_experiment
from apps.campaigns.models import Experiment, Lane
from apps.testbeds.models import FileSystem, Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, experiment_body, form
from tests.testbeds import factories as inventory


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


def storage_tool(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    """Have iperf3 take a file system as storage tools do."""
    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "file_system", wish)


def mounted(cast: SimpleNamespace, *nodes: Node) -> object:
    return inventory.file_system(cast.team, "gpfs", inventory.cluster(cast.team, "", *nodes), mount_path="/gpfs")


def refusal(cast: SimpleNamespace, pair: list[Node], **values: object) -> str:
    with pytest.raises(ValidationError) as refused:
        make.experiment(make.campaign(cast), *pair, **values)
    return " ".join(refused.value.message_dict["file_system"])


def test_a_tool_that_needs_one_is_refused_without(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    assert "choose one" in refusal(cast, pair)


def test_a_tool_that_takes_none_is_refused_with_one(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "leave this empty" in refusal(cast, pair, file_system=mounted(cast, *pair))


def test_every_node_must_mount_what_is_required(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    assert "pnu01" in refusal(cast, pair, file_system=mounted(cast, pair[0]))


def test_some_node_must_mount_what_is_optional(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "optional")
    assert "kisti01, pnu01" in refusal(cast, pair, file_system=mounted(cast))
    make.experiment(make.campaign(cast), *pair, file_system=inventory.file_system(
        cast.team, "scratch", inventory.cluster(cast.team, "", pair[0])
    ))  # fmt: skip


def test_another_team_s_file_system_is_refused(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    foreign = inventory.file_system(cast.other_team, "theirs")
    assert "not in the inventory" in refusal(cast, pair, file_system=foreign)


def test_a_run_reserves_it(cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    storage_tool(monkeypatch, "required")
    found = mounted(cast, *pair)
    make.launched(cast, *pair, file_system=found)
    assert f"fs:{found.pk}" in Lane.objects.get().resources


def test_two_experiments_on_one_file_system_take_turns(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    first, second = make.nodes(cast.team, "a", "b"), make.nodes(cast.team, "c", "d")
    found = mounted(cast, *first, *second)
    make.launched(cast, *first, file_system=found)
    make.launched(cast, *second, file_system=found)
    assert len(make.take()) == 1


def served(cast: SimpleNamespace, path: str, servers: list[Node], *clients: Node) -> FileSystem:
    """Return a file system that a cluster of `servers` serves to the clients."""
    by = inventory.cluster(cast.team, "", *servers)
    mounting = inventory.cluster(cast.team, "", *clients)
    return inventory.file_system(cast.team, path.strip("/"), mounting, mount_path=path, server_cluster=by)


def test_a_run_reserves_what_serves_it_and_the_links_there(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "optional")
    server, other = make.nodes(cast.team, "nsd01", "nsd02", site="Busan")
    there = make.link(pair[0], server, "to the server")
    bystander = make.link(pair[1], other, "from a node that does not mount it")
    found = served(cast, "/gpfs", [server, other], pair[0])
    make.launched(cast, *pair, file_system=found)
    resources = set(Lane.objects.get().resources)
    assert resources >= {found.key, f"node:{server.pk}", f"node:{other.pk}", there.key}
    assert bystander.key not in resources


def test_a_server_s_disk_is_measured_by_itself(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    server, spare = make.nodes(cast.team, "nsd01", "spare", site="Busan")
    disk = inventory.file_system(
        cast.team, "raid", inventory.cluster(cast.team, "", server, spare), mount_path="/raid"
    )
    make.launched(cast, *pair, file_system=served(cast, "/gpfs", [server], *pair))
    (first,) = make.take()
    make.launched(cast, server, spare, name="Its disk", file_system=disk)
    assert not make.take()
    services.succeed_run(run=first, now=make.NOW)
    services.pause_campaign(campaign=first.trial.campaign, user=cast.oscar)
    (second,) = make.take()
    assert second.trial.campaign.name == "Its disk"
    services.resume_campaign(campaign=first.trial.campaign, user=cast.oscar, now=make.NOW)
    assert not make.take()


def test_two_file_systems_of_one_server_take_turns(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    storage_tool(monkeypatch, "required")
    (server,) = make.nodes(cast.team, "nsd01", site="Busan")
    for path, names in (("/home", ("a", "b")), ("/data", ("c", "d"))):
        clients = make.nodes(cast.team, *names)
        make.launched(cast, *clients, file_system=served(cast, path, [server], *clients))
    assert len(make.take()) == 1


def test_a_server_needs_no_agent(cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    storage_tool(monkeypatch, "required")
    (server,) = make.nodes(cast.team, "nsd01", site="Busan")
    make.launched(cast, *pair, file_system=served(cast, "/gpfs", [server], *pair))
    assert len(make.take(*pair)) == 1


def test_servers_are_looked_for_once_however_many_pairs_measure(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    storage_tool(monkeypatch, "required")
    left, right = make.nodes(cast.team, *"abcd"), make.nodes(cast.team, *"efgh", site="Busan")
    found = served(cast, "/gpfs", right[:2], *left, *right)
    draft = make.campaign(cast)
    made = make.experiment(draft, left, right, file_system=found)
    expansion = expand_experiment(made, made.roles.select_related("node"))
    estimator = Estimator()
    # The two clusters, and the team's links and RTTs.
    with django_assert_max_num_queries(4):
        resources = [estimator.resources_of(expansion, cast) for cast in expansion.casts]
    assert len(resources) == 16


def test_a_clone_keeps_it_and_the_inventory_does_not_lose_it(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    draft = make.campaign(cast)
    found = mounted(cast, *pair)
    make.experiment(draft, *pair, file_system=found)
    copy = services.clone_campaign(campaign=draft, user=cast.oscar)
    assert copy.experiments.get().file_system == found
    assert str(draft) in browser(cast.alice).get(f"/inventory/file-systems/{found.pk}/delete/").content.decode()


def test_it_is_chosen_in_the_browser(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    draft, found = make.campaign(cast), mounted(cast, *pair)
    assert "gpfs" in oscar.get(address("experiment_create", draft.pk), {"tool": "iperf3-tcp"}).content.decode()
    missing = oscar.post(address("experiment_create", draft.pk), form(pair))
    assert missing.status_code == 422
    oscar.post(address("experiment_create", draft.pk), form(pair, file_system=str(found.pk)))
    experiment = Experiment.objects.get()
    assert experiment.file_system == found
    assert f'value="{found.pk}" selected' in oscar.get(address("experiment_update", experiment.pk)).content.decode()
    assert "gpfs" in oscar.get(address("campaign_detail", draft.pk)).content.decode()


@pytest.mark.parametrize("wish", ["required", "optional"])
def test_where_none_is_described_the_form_says_so_and_leads_there(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch, wish: str
) -> None:
    storage_tool(monkeypatch, wish)
    draft = make.campaign(cast)
    # Another team's is none of this one's.
    inventory.file_system(cast.other_team, "theirs")
    new = address("experiment_create", draft.pk)
    page = oscar.get(new, {"tool": "iperf3-tcp"}).content.decode()
    assert "none is described yet" in page
    assert reverse("testbeds:filesystem_create") in page
    assert "theirs" not in page
    assert oscar.get(reverse("testbeds:filesystem_create")).status_code == 200
    assert "none is described yet" not in oscar.get(new, {"tool": "ping"}).content.decode()
    mounted(cast, *pair)
    page = oscar.get(new, {"tool": "iperf3-tcp"}).content.decode()
    assert "none is described yet" not in page


def test_the_only_one_is_chosen_where_it_must_be(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage_tool(monkeypatch, "required")
    new, found = address("experiment_create", make.campaign(cast).pk), mounted(cast, *pair)
    chosen = f'value="{found.pk}" selected'
    assert chosen in oscar.get(new, {"tool": "iperf3-tcp"}).content.decode()
    storage_tool(monkeypatch, "optional")
    assert chosen not in oscar.get(new, {"tool": "iperf3-tcp"}).content.decode()
    storage_tool(monkeypatch, "required")
    inventory.file_system(cast.team, "another")
    assert chosen not in oscar.get(new, {"tool": "iperf3-tcp"}).content.decode()


def test_it_is_chosen_over_rest(cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    storage_tool(monkeypatch, "required")
    draft, found = make.campaign(cast), mounted(cast, *pair)
    api = Api(cast.oscar)
    refused = api("post", "/experiments/", experiment_body(draft.pk, pair))
    assert refused.status_code == 400
    assert "file_system" in refused.json()["fields"]
    made = api("post", "/experiments/", experiment_body(draft.pk, pair, file_system=found.pk))
    assert made.json()["file_system"] == found.pk
    foreign = inventory.file_system(cast.other_team, "theirs")
    unknown = api("post", "/experiments/", experiment_body(draft.pk, pair, file_system=foreign.pk))
    assert unknown.status_code == 400


def test_as_many_clients_as_there_are_nodes_may_take_part(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_cast(self, params, counts):
        return {"streams": Message("too many")} if params["streams"] > counts["client"] else {}

    monkeypatch.setattr(type(tools.get("iperf3-tcp")), "check_cast", check_cast)
    draft = make.campaign(cast)
    make.experiment(draft, *pair, factors=[{"name": "streams", "expression": "1"}])
    with pytest.raises(ValidationError) as refused:
        make.experiment(draft, *pair, factors=[{"name": "streams", "expression": "1..3"}])
    assert list(refused.value.message_dict) == ["factors.streams"]
