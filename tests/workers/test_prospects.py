"""What nodes will surely refuse is said before a launch: at the preview, on the launch page, over REST."""

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents.models import Agent, FactSnapshot
from apps.bench import sweep, tools
from apps.campaigns import queries, services
from apps.campaigns.expansion import Cast, Expansion
from apps.core.messages import render
from apps.testbeds import services as inventory
from apps.testbeds.models import Node, NodeAddress
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, experiment_body, form
from tests.rotation import part_of
from tests.testbeds import factories as inventories
from workers import prospects
from workers.readiness import node_warnings

OFFERED = {"iperf3": {"path": "/usr/bin/iperf3", "version": "3.16"}}


def report(node: Node, **facts: Any) -> None:
    """Let the node's agent have reported these facts."""
    snapshot = FactSnapshot.objects.create(node=node, digest="x", facts={"tools": OFFERED, **facts})
    Agent.objects.filter(node=node).update(facts=snapshot)


def warnings(cast: SimpleNamespace, pair: list[Node], **values: Any) -> list[str]:
    draft = make.campaign(cast)
    make.experiment(draft, *pair, **values)
    expansions = [expansion for _experiment, expansion in services.expand_campaign(draft)]
    return [render(message) for message in prospects.plan_warnings(expansions=expansions)]


def test_a_program_that_a_node_does_not_offer_is_named_with_what_to_do(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    report(pair[0])
    assert warnings(cast, pair) == []
    report(pair[1], tools={})
    (text,) = warnings(cast, pair)
    assert text.startswith("pnu01 does not offer iperf3: install it there, or give its path under “programs”")


def test_a_window_above_what_the_kernel_grants_is_named_with_its_limit(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    report(pair[0], sysctls={"net.core.rmem_max": "4194304", "net.core.wmem_max": "212992"})
    report(pair[1], sysctls={"net.core.rmem_max": "1048576", "net.core.wmem_max": "nonsense"})
    (text,) = warnings(cast, pair)
    assert text.startswith(
        "kisti01 grants programs at most 208 KiB of buffer (net.core.wmem_max), and 1 MiB is asked"
    )
    assert warnings(cast, pair, factors=[], fixed={"window": "208KiB", "duration": "2 s"}) == []
    assert warnings(cast, pair, factors=[], fixed={"duration": "2 s"}) == []


def test_a_congestion_control_that_a_node_does_not_have_is_named(cast: SimpleNamespace, pair: list[Node]) -> None:
    report(pair[0], congestion_controls={"current": "cubic", "available": ["bbr", "cubic"], "allowed": ["cubic"]})
    (text,) = warnings(cast, pair, factors=[{"name": "congestion", "expression": "cubic, bbr"}])
    assert text.startswith("kisti01 does not let programs choose the congestion control bbr")


def test_a_setting_that_an_agent_does_not_let_change_is_named(cast: SimpleNamespace, pair: list[Node]) -> None:
    name = "setting.client.net.ipv4.tcp_congestion_control"
    inventory.grant_setting(node=pair[0], user=cast.alice, pattern="net.ipv4.*")
    report(pair[0], settings=["net.core.*"])
    factors = [{"name": name, "expression": "cubic, bbr"}]
    (text,) = warnings(cast, pair, factors=factors)
    assert text.startswith("The agent on kisti01 does not let measurements change net.ipv4.tcp_congestion_control")
    report(pair[0], settings=["net.ipv4.tcp_*"])
    assert warnings(cast, pair, factors=factors) == []


def test_a_limit_that_the_experiment_itself_raises_is_none(cast: SimpleNamespace, pair: list[Node]) -> None:
    key = "net.core.rmem_max"
    inventory.grant_setting(node=pair[0], user=cast.alice, pattern=key)
    report(pair[0], sysctls={key: "212992"}, settings=[key])
    fixed = {"duration": "2 s", f"setting.client.{key}": "8388608"}
    assert warnings(cast, pair, fixed=fixed) == []


def test_a_node_without_an_address_is_named(cast: SimpleNamespace, pair: list[Node]) -> None:
    NodeAddress.objects.filter(node=pair[1]).delete()
    (text,) = warnings(cast, pair)
    assert text == "pnu01 has no data-plane address. Add one on the node's page and run the failed trials again."


@pytest.mark.parametrize("slug", part_of(sorted(tool.slug for tool in tools.all_tools())))
def test_each_tool_says_which_of_its_programs_are_missing(cast: SimpleNamespace, pair: list[Node], slug: str) -> None:
    for node in pair:
        report(node, tools={})
    tool = tools.get(slug)
    given = {
        item.name: item.choices[0][0] if item.choices else item.minimum if item.minimum is not None else "x"
        for item in tool.parameters
        if item.required and item.default is None
    }
    roles = {role.name: tuple(pair) if role.many else (pair[number % 2],) for number, role in enumerate(tool.roles)}
    spec = sweep.SweepSpec(factors={}, fixed={})
    disk = inventories.file_system(cast.team, "gpfs", inventories.cluster(cast.team, "c", *pair), mount_path="/gpfs")
    expansion = Expansion(tool, spec, (Cast(roles),), 0, (tool.clean(given),), {}, file_system=disk)
    texts = [render(message) for message in prospects.plan_warnings(expansions=[expansion])]
    assert any("does not offer" in text for text in texts), texts


def test_the_preview_the_launch_page_rest_and_the_log_tell_it(cast: SimpleNamespace, pair: list[Node]) -> None:
    report(pair[1], tools={})
    assert node_warnings(nodes=pair, now=timezone.now()) == []
    text = "pnu01 does not offer iperf3"
    draft, oscar = make.campaign(cast), browser(cast.oscar)
    assert text in oscar.post(address("experiment_preview", draft.pk), form(pair)).content.decode()
    answer = Api(cast.oscar)("post", "/experiments/preview/", experiment_body(draft.pk, pair))
    assert any(text in warning for warning in answer.json()["warnings"])
    make.experiment(draft, *pair)
    assert text in oscar.get(address("confirm_launch", draft.pk)).content.decode()
    answer = Api(cast.oscar)("get", f"/campaigns/{draft.pk}/preview/")
    assert any(text in warning for warning in answer.json()["warnings"])
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    assert any(text in render(event.message) for event in queries.events_of(draft))


def test_a_preview_of_many_looks_at_a_few_and_says_little(
    cast: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    nodes = make.nodes(cast.team, *(f"n{number}" for number in range(60)))
    for node in nodes:
        Agent.objects.create(node=node, prefix=node.name, digest="y")
        report(node, tools={})
    tool = tools.get("iperf3-tcp")
    casts = tuple(Cast({"client": (a,), "server": (b,)}) for a, b in itertools.pairwise(nodes))
    points = tuple(tool.clean({"streams": str(streams)}) for streams in range(1, 101))
    expansion = Expansion(tool, sweep.SweepSpec(factors={}, fixed={}), casts, 0, points, {})
    with django_assert_max_num_queries(4):
        assert len(prospects.plan_warnings(expansions=[expansion])) == prospects.MOST_WARNINGS


@pytest.mark.parametrize("figure", ["9" * 5000, "٣" * 5, "1" * 19, 7, None, ["1"]])
def test_a_limit_that_is_no_number_breaks_no_preview(cast: SimpleNamespace, pair: list[Node], figure: object) -> None:
    report(pair[0], sysctls={"net.core.rmem_max": figure, "net.core.wmem_max": figure})
    report(pair[1], sysctls=figure)
    assert warnings(cast, pair) == []
    draft = make.campaign(cast)
    make.experiment(draft, *pair)
    assert Api(cast.oscar)("get", f"/campaigns/{draft.pk}/preview/").status_code == 200
