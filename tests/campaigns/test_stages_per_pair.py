"""Experiments of several pairs: each pair takes its values from what it measured itself."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns import queries, services
from apps.campaigns.expansion import Cast
from apps.campaigns.expansion.stages import lanes_of
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.core import messages
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW
from tests.campaigns.test_stages import FORMULA, end_first, launch, measure_each

RATES = {"left0": 9e8, "left1": 1e8}


@pytest.fixture
def sites(cast: SimpleNamespace) -> SimpleNamespace:
    """Return two nodes on either side of a link."""
    return make.wan(cast.team, pairs=2)


def staged(cast: SimpleNamespace, sites: SimpleNamespace, **later: Any) -> Campaign:
    """Return a running campaign whose first experiment, of two pairs, has ended."""
    draft = make.campaign(cast)
    udp = {"tool": "iperf3-udp", "fixed": {"duration": "2 s", "rate": "90M"}, "factors": [], "repetitions": 1}
    first = make.experiment(draft, sites.left, sites.right[0], name="Bottleneck", **udp)
    values = {"factors": [{"name": "window", "expression": FORMULA}], "repetitions": 1, "after": first, **later}
    make.experiment(draft, values.pop("client", sites.left), sites.right[0], name="Windows", **values)
    campaign = launch(cast, draft)
    end_first()
    return campaign


def by_client(rates: dict[str, float]) -> Any:
    """Return what each lane measured, by the name of its client; nothing for names that are not there."""

    def figures(lane: Lane) -> list[float]:
        name = Node.objects.get(pk=lane.roles["client"][0]).name
        return [rates[name]] if name in rates else []

    return measure_each(figures)


def start(measured: Any) -> Experiment:
    (later,) = queries.due_stages()
    assert services.start_stage(experiment_id=later.pk, measured=measured, now=NOW)
    later.refresh_from_db()
    return later


def windows(later: Experiment) -> dict[str, set[int]]:
    found = defaultdict(set)
    for trial in Trial.objects.filter(experiment=later).select_related("lane"):
        found[Node.objects.get(pk=trial.lane.roles["client"][0]).name].add(trial.parameters["window"])
    return dict(found)


def test_each_pair_has_windows_of_its_own(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    staged(cast, sites)
    later = start(by_client(RATES))
    assert windows(later) == {"left0": {270_000, 540_000, 1_080_000}, "left1": {30_000, 60_000, 120_000}}
    # What is measured at one point is one thing.
    points = {(trial.point, trial.parameters["window"]) for trial in Trial.objects.filter(experiment=later)}
    assert len(points) == 6
    positions = Trial.objects.filter(experiment=later).order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(6))
    shown = later.resolved["window"]
    assert shown == "270000, 540000, 1080000 (left0 → right0); 30000, 60000, 120000 (left1 → right0)"


def test_pairs_that_measured_alike_share_their_points(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    staged(cast, sites)
    later = start(by_client({"left0": 9e8, "left1": 9e8}))
    assert set(Trial.objects.filter(experiment=later).values_list("point", flat=True)) == {0, 1, 2}
    assert later.lanes.count() == 2
    assert later.resolved == {"window": "270000, 540000, 1080000"}


def test_a_pair_that_measured_nothing_is_left_out_and_named(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    campaign = staged(cast, sites)
    later = start(by_client({"left1": 1e8}))
    assert list(windows(later)) == ["left1"]
    assert later.stage == "started"
    line = messages.render(campaign.events.first().message)
    assert "leaves out left0 → right0" in line
    assert "gave no goodput" in line


def test_a_pair_whose_value_is_refused_is_left_out_and_named(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    campaign = staged(cast, sites)
    later = start(by_client({"left0": 9e15, "left1": 1e8}))
    assert list(windows(later)) == ["left1"]
    assert "too large" in messages.render(campaign.events.first().message).lower()


def test_a_limit_of_the_link_bears_on_the_pair_that_exceeds_it(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    factors = [{"name": "rate", "expression": "=max(Bottleneck.goodput) * {2}"}]
    campaign = staged(cast, sites, tool="iperf3-udp", fixed={"duration": "2 s"}, factors=factors)
    later = start(by_client(RATES))
    assert set(Trial.objects.filter(experiment=later).values_list("parameters__rate", flat=True)) == {200_000_000}
    assert "whose owner allows" in messages.render(campaign.events.first().message)


def test_if_no_pair_is_left_the_experiment_is_refused(cast: SimpleNamespace, sites: SimpleNamespace) -> None:
    staged(cast, sites)
    later = start(by_client({}))
    assert later.stage == "refused"
    assert "gave no goodput" in messages.render(later.refusal)
    assert not later.lanes.exists()


def test_many_that_are_left_out_are_counted(
    cast: SimpleNamespace, sites: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.campaigns.services.stages.NAMED", 0)
    campaign = staged(cast, sites)
    later = start(by_client({"left1": 1e8}))
    assert "more sets of nodes for such reasons: 1" in messages.render(campaign.events.first().message)
    assert later.resolved == {"window": "30000, 60000, 120000"}


def nearest(roles: dict[str, list[int]], *lanes: dict[str, list[int]]) -> list[int]:
    """Return which of the lanes bear on a cast, by their numbers."""
    cast = Cast({role: tuple(Node(pk=pk) for pk in members) for role, members in roles.items()})
    return [lane.pk for lane in lanes_of(cast, [Lane(pk=pk, roles=lane) for pk, lane in enumerate(lanes)])]


def test_the_nearest_lanes_bear_on_a_set_of_nodes() -> None:
    forth, back = {"client": [1], "server": [2]}, {"client": [2], "server": [1]}
    third, alone, all_of_them = {"client": [1], "server": [3]}, {"client": [2]}, {"client": [1, 2, 3]}
    assert nearest(forth, back, forth, third, alone) == [1]
    assert nearest({"source": [1], "sink": [2]}, back, forth, third) == [0, 1]
    assert nearest(forth, third, alone) == [1]
    assert nearest(forth, third, all_of_them) == [1]
    assert nearest(all_of_them, forth, third, {"client": [4]}) == [0, 1]
    assert nearest({"client": [8], "server": [9]}, forth, third) == [0, 1]
    assert nearest(forth) == []
