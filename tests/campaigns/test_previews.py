"""What a campaign would do: trials, points, time, bytes on each link, dates and warnings."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns import queries, services
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import expand_experiment
from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW


def preview(draft: Campaign) -> queries.Preview:
    expansions = [expansion for _experiment, expansion in services.expand_campaign(draft)]
    return queries.preview_campaign(draft, expansions, now=NOW)


def preview_one(cast: SimpleNamespace, client: Any, server: Any, **values: Any) -> queries.Preview:
    experiment = make.experiment(make.campaign(cast), client, server, **values)
    return queries.preview_experiment(expand_experiment(experiment, experiment.roles.all()), now=NOW)


def test_it_counts_and_shows_the_points(cast: SimpleNamespace, pair: list[Node]) -> None:
    factors = [{"name": "window", "expression": "64KiB, 1MiB"}, {"name": "streams", "expression": "1, 4"}]
    found = preview_one(cast, *pair, factors=factors, repetitions=3, warmups=1)
    assert (found.trials, found.points, found.lanes) == (16, 4, 1)
    assert [factor.name for factor in found.factors] == ["window", "streams"]
    assert [row.values for row in found.rows] == [
        ("64KiB", "1"),
        ("64KiB", "4"),
        ("1MiB", "1"),
        ("1MiB", "4"),
    ]
    assert found.rows[0].nodes == "kisti01 → pnu01"


def test_it_shows_the_first_points_of_many(cast: SimpleNamespace, pair: list[Node]) -> None:
    found = preview_one(cast, *pair, factors=[{"name": "streams", "expression": "1..100"}])
    assert (found.points, len(found.rows)) == (100, 50)


def test_it_estimates_the_bytes_on_every_link_of_the_path(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team)
    found = preview_one(cast, net.left[0], net.right[0], factors=[], repetitions=3, fixed={"duration": "8 s"})
    at_most = 3 * 8 * 10**9 // 8
    assert set(found.link_bytes) == {"left0-lan", "KREONET", "right0-lan"}
    assert at_most <= found.link_bytes["KREONET"] <= 1.5 * at_most
    assert found.link_bytes["KREONET"] == found.link_bytes["left0-lan"]


def test_a_window_bounds_the_bytes(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team)
    rtt_s = Estimator().path(net.left[0], net.right[0]).rtt_s
    found = preview_one(
        cast, net.left[0], net.right[0], repetitions=3, factors=[{"name": "streams", "expression": "1, 2"}],
        fixed={"duration": "8 s", "omit": "0 s", "window": "64 KiB"},
    )  # fmt: skip
    # The kernel grants twice what is asked for, and lets that be under way once in each RTT.
    assert found.link_bytes["KREONET"] == pytest.approx(3 * 8 * (1 + 2) * 2 * 65536 / rtt_s, rel=1e-3)
    # Without a window the kernel may fill the path.
    free = preview_one(cast, net.left[0], net.right[0], factors=[], repetitions=3, fixed={"duration": "8 s"})
    assert free.link_bytes["KREONET"] > found.link_bytes["KREONET"]


def test_nodes_without_a_link_are_warned_of(cast: SimpleNamespace) -> None:
    found = preview_one(cast, *make.nodes(cast.team, "a", "b"), tool="ping", fixed={}, factors=[])
    assert found.link_bytes == {}
    assert any("No path between a and b" in str(warning) for warning in found.warnings)


def test_a_link_of_unknown_capacity_gives_no_number_of_bytes(cast: SimpleNamespace, pair: list[Node]) -> None:
    Link.objects.update(capacity_bps=None)
    assert preview_one(cast, *pair).link_bytes == {}


def test_experiments_on_one_pair_take_the_sum_and_on_two_pairs_the_longer(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    others = make.nodes(cast.team, "c", "d")
    serial, parallel = make.campaign(cast), make.campaign(cast)
    for draft, second in ((serial, pair), (parallel, others)):
        make.experiment(draft, *pair, factors=[], repetitions=1, fixed={"duration": "10 s"})
        make.experiment(draft, *second, factors=[], repetitions=1, fixed={"duration": "20 s"})
    assert 30 < preview(serial).duration_s < 35
    assert 20 < preview(parallel).duration_s < 23


def test_lanes_over_one_wan_link_take_turns(cast: SimpleNamespace) -> None:
    net = make.wan(cast.team, pairs=3)
    draft = make.campaign(cast)
    for left, right in zip(net.left, net.right, strict=True):
        make.experiment(draft, left, right, factors=[], repetitions=1, fixed={"duration": "10 s"})
    assert preview(draft).duration_s > 30


def test_the_next_dates_are_shown_and_too_many_warned_of(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast, cron="* * * * *")
    make.experiment(draft, *pair, fixed={"duration": "60 s"})
    found = preview(draft)
    assert len(found.dates) == 5
    assert any("faster than the campaign can end" in str(warning) for warning in found.warnings)
    rare = make.campaign(cast, cron="0 0 1 * *")
    make.experiment(rare, *pair)
    assert not any("faster" in str(warning) for warning in preview(rare).warnings)


def test_a_single_start_is_its_only_date(cast: SimpleNamespace) -> None:
    later = NOW.replace(hour=20)
    assert queries.next_dates(make.campaign(cast, start_at=later), now=NOW) == (later,)
    assert queries.next_dates(make.campaign(cast, start_at=later), now=later) == ()
    assert queries.next_dates(make.campaign(cast), now=NOW) == ()
    series = make.campaign(cast, start_at=later, cron="0 * * * *")
    assert queries.next_dates(series, now=NOW)[0] > later


def test_it_warns_of_combinations_left_out_and_nodes_without_agents(cast: SimpleNamespace, pair: list[Node]) -> None:
    both = make.cluster(cast.team, "both", *pair)
    said = [str(warning) for warning in preview_one(cast, both, both).warnings]
    assert said[0].startswith("Combinations left out")
    assert any(text.startswith("kisti01 has no agent") for text in said)


def test_ten_thousand_points_are_checked_and_estimated(cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = Experiment(
        campaign=make.campaign(cast),
        name="large",
        tool="iperf3-tcp",
        factors=[
            {"name": "window", "expression": "64KiB..100MiB /99"},
            {"name": "streams", "expression": "1..100"},
        ],
        exclusions=["window * streams > 100GiB"],
    )
    roles = services.players_of(experiment, make.players(client=pair[0], server=pair[1]))
    found = queries.preview_experiment(services.check_experiment(experiment, roles), now=NOW)
    assert found.points == 10_000


@pytest.mark.parametrize("pairs", [1, 3])
def test_a_preview_takes_as_many_queries_however_many_lanes(
    cast: SimpleNamespace, pairs: int, django_assert_max_num_queries
) -> None:
    net = make.wan(cast.team, pairs=pairs)
    experiment = make.experiment(
        make.campaign(cast), make.cluster(cast.team, "l", *net.left), make.cluster(cast.team, "r", *net.right)
    )
    with django_assert_max_num_queries(13):
        queries.preview_experiment(expand_experiment(experiment, experiment.roles.all()), now=NOW)
