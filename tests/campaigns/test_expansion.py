"""From an experiment as it was written to its points and nodes."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.campaigns import services
from apps.campaigns.expansion import Expansion
from apps.campaigns.models import Experiment
from apps.testbeds.models import Node
from tests.campaigns import factories as make


def expand(cast: SimpleNamespace, client: Any, server: Any, **values: Any) -> Expansion:
    defaults = {"name": "e", "tool": "iperf3-tcp", "repetitions": 1}
    experiment = Experiment(campaign=make.campaign(cast), **{**defaults, **values})
    roles = services.players_of(experiment, make.players(client=client, server=server))
    return services.check_experiment(experiment, roles)


def refusal(*args: Any, **values: Any) -> dict[str, list[str]]:
    with pytest.raises(ValidationError) as caught:
        expand(*args, **values)
    return caught.value.message_dict


def windows(expression: str) -> list[dict[str, str]]:
    return [{"name": "window", "expression": expression}]


def test_a_point_holds_every_parameter_typed_with_defaults(cast: SimpleNamespace, pair: list[Node]) -> None:
    expansion = expand(cast, *pair, fixed={"duration": "3 s"}, factors=windows("64KiB..256KiB x2"))
    assert [point["window"] for point in expansion.points] == [65536, 131072, 262144]
    assert {point["duration"] for point in expansion.points} == {3.0}
    assert expansion.points[0].keys() == {parameter.name for parameter in expansion.tool.parameters}


def test_trials_count_nodes_points_repetitions_and_warm_ups(cast: SimpleNamespace, pair: list[Node]) -> None:
    third = make.nodes(cast.team, "pnu02")[0]
    expansion = expand(cast, pair[0], [pair[1], third], factors=windows("64KiB, 1MiB"), repetitions=3, warmups=1)
    assert expansion.trials == 2 * 2 * 4


def test_each_node_of_a_cluster_takes_its_turn_and_none_plays_two_roles(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    all_nodes = [*pair, *make.nodes(cast.team, "pnu02")]
    together = make.cluster(cast.team, "all", *all_nodes)
    expansion = expand(cast, together, together)
    ends = {(lane.roles["client"][0].name, lane.roles["server"][0].name) for lane in expansion.casts}
    assert len(expansion.casts) == len(ends) == 6
    assert all(client != server for client, server in ends)
    assert expansion.left_out == 3


def test_a_node_named_twice_counts_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    both = make.cluster(cast.team, "servers", pair[1])
    assert len(expand(cast, pair[0], [pair[1], both]).casts) == 1


def test_it_refuses_one_node_in_both_roles(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "add another" in next(iter(refusal(cast, pair[0], pair[0]).values()))[0]


def test_it_refuses_a_role_without_players_and_an_empty_cluster(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "choose a node" in refusal(cast, [], pair[1])["roles.client"][0]
    assert "roles.server" in refusal(cast, pair[0], make.cluster(cast.team, "empty"))


def test_it_refuses_a_role_that_the_tool_does_not_have(cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = Experiment(campaign=make.campaign(cast), name="e", tool="ping")
    roles = make.players(client=pair[0], server=pair[1], referee=pair[0])
    with pytest.raises(ValidationError) as caught:
        services.check_experiment(experiment, services.players_of(experiment, roles))
    assert "client" in caught.value.message_dict["roles.referee"][0]


def test_it_refuses_nodes_of_another_team(cast: SimpleNamespace, pair: list[Node]) -> None:
    theirs = make.nodes(cast.other_team, "secret")[0]
    assert "inventory" in refusal(cast, pair[0], theirs)["roles.server"][0]


def test_it_refuses_an_unknown_tool_and_names_those_there_are(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert "iperf3-tcp" in refusal(cast, *pair, tool="netperf3")["tool"][0]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"fixed": {"duration": "soon"}}, "fixed.duration"),
        ({"fixed": {"speed": "1"}}, "fixed.speed"),
        ({"fixed": {"duration": "0 s"}}, "fixed.duration"),
        ({"factors": windows("64KiB..16MiB")}, "factors.window"),
        ({"factors": windows("")}, "factors.window"),
        ({"factors": [*windows("1KiB"), *windows("2KiB")]}, "factors.window"),
        ({"factors": windows("64KiB"), "fixed": {"window": "1MiB"}}, "fixed.window"),
        ({"factors": windows("64KiB"), "zips": [["window", "streams"]]}, "zips.0"),
        ({"factors": windows("64KiB"), "exclusions": ["window >"]}, "exclusions.0"),
        ({"factors": windows("64KiB"), "exclusions": ["window > 1KiB"]}, "exclusions"),
        ({"repetitions": 0}, "repetitions"),
        ({"warmups": 101}, "warmups"),
        ({"order": "backwards"}, "order"),
        ({"factors": [{"name": "streams", "expression": "1..100"}], "repetitions": 1000 + 0}, None),
        ({"factors": [{"name": "port", "expression": "1024..65535"}], "repetitions": 10}, "trials"),
        ({"fixed": {"congestion": "b b r"}}, "fixed.congestion"),
        ({"factors": [{"name": "congestion", "expression": "cubic, b b r"}]}, "factors.congestion"),
    ],
)
def test_it_names_the_field_that_is_wrong(
    cast: SimpleNamespace, pair: list[Node], values: dict[str, Any], field: str | None
) -> None:
    if field is None:
        assert expand(cast, *pair, **values).trials == 100_000
        return
    found = refusal(cast, *pair, **values)
    assert found.keys() == {field}
    assert all(text.strip() for text in found[field])


def test_it_refuses_too_many_nodes_before_it_combines_them(cast: SimpleNamespace, pair: list[Node]) -> None:
    crowd = make.cluster(cast.team, "crowd", *make.nodes(cast.team, *(f"n{i}" for i in range(400))))
    assert "the maximum is" in refusal(cast, crowd, crowd)["trials"][0]


def test_it_refuses_more_trials_than_can_be_kept(cast: SimpleNamespace, pair: list[Node]) -> None:
    crowd = make.cluster(cast.team, "crowd", *make.nodes(cast.team, *(f"n{i}" for i in range(30))))
    factors = [{"name": "streams", "expression": "1..100"}]
    assert "trials" in refusal(cast, crowd, crowd, factors=factors, repetitions=2)


def test_it_reports_a_blank_name_beside_a_wrong_window(cast: SimpleNamespace, pair: list[Node]) -> None:
    assert refusal(cast, *pair, name="", factors=windows("large")).keys() == {"name", "factors.window"}
