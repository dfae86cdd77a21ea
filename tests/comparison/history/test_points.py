"""The choice among the points of a sweep: a list a parameter, and every value leads to a point that was measured."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign, Lane
from apps.comparison.history import points
from apps.comparison.history.points import PointSetting
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from tests import rewriting
from tests.comparison.history.conftest import START, WEEK, measured
from tests.pages import flat

WINDOW = 2**16


def setting(campaigns: int = 1, **parameters: Any) -> PointSetting:
    return PointSetting(parameters, campaigns)


def choices(*settings: PointSetting, chosen: int = 0) -> dict[str, list[tuple[str, PointSetting, bool]]]:
    found = points.choices_among(settings, settings[chosen], toolbox.get_tool("iperf3-tcp"))
    return {choice.label: [(item.text, item.setting, item.is_chosen) for item in choice.options] for choice in found}


def test_a_full_grid_has_a_list_a_parameter_in_rising_order_and_the_rest_stays() -> None:
    grid = [setting(window=w * WINDOW, streams=n, duration=10) for n in (4, 1) for w in (2, 1, 16)]
    found = choices(*grid, chosen=4)
    assert list(found) == ["Window", "Streams"]
    assert found["Window"] == [("64 KiB", grid[4], True), ("128 KiB", grid[3], False), ("1 MiB", grid[5], False)]
    assert found["Streams"] == [("1", grid[4], True), ("4", grid[1], False)]


def test_a_value_that_was_not_measured_with_the_rest_says_what_changes_with_it() -> None:
    often, rarely = setting(5, window=WINDOW, streams=8), setting(1, window=WINDOW, streams=2)
    found = choices(setting(window=2 * WINDOW, streams=1), often, rarely)
    assert found["Window"] == [
        ("64 KiB · Streams 8", often, False),
        ("128 KiB", found["Window"][1][1], True),
    ]


def test_what_a_point_does_not_have_and_kinds_of_values_are_told_apart() -> None:
    found = choices(
        setting(window=None, streams=1),
        setting(streams=1),
        setting(window=0, streams=1),
        setting(gone="b", streams=1),
    )
    assert [text for text, _setting, _chosen in found["Window"]][-1] in ("default", "not known")
    # A parameter that the tool no longer has goes by its name.
    assert [text for text, _setting, _chosen in found["gone"]] == ["b", "–"]


def test_where_all_are_alike_there_is_nothing_to_choose() -> None:
    assert choices(setting(window=WINDOW, streams=1)) == {}


@pytest.fixture
def grid(cast: SimpleNamespace, pair: list[Node]) -> tuple[str, list[Campaign]]:
    """Return the address of a history of two windows with two numbers of streams each, measured twice."""
    factors = [{"name": "window", "expression": "64KiB, 1MiB"}, {"name": "streams", "expression": "1, 4"}]
    made = [
        measured(cast, pair, 3e8, START + place * WEEK, name=f"Grid {place}", factors=factors, repetitions=1)
        for place in range(2)
    ]
    lane = Lane.objects.get(experiment__campaign=made[1])
    return reverse("history:detail", args=[lane.pk]), made


def lists_of(page: str) -> list[list[tuple[str, bool, str]]]:
    """Return the options of each list of points: key, whether it is chosen, and text."""
    return [
        [
            (key, bool(chosen), text)
            for key, chosen, text in re.findall(r'value="(\w+)"( selected)?>([^<]*)<', options)
        ]
        for options in re.findall(r'name="point">(.*?)</select>', flat(page))
    ]


def test_choosing_one_value_keeps_the_other_and_leads_to_a_clean_address(
    client: Client, grid: tuple[str, list[Campaign]], cast: SimpleNamespace
) -> None:
    address, _made = grid
    client.force_login(cast.bob)
    page = client.get(address).content.decode()
    windows, streams = lists_of(page)
    assert [text for _key, _chosen, text in windows] == ["64 KiB (2)", "1 MiB (2)"]
    assert [text for _key, _chosen, text in streams] == ["1 (2)", "4 (2)"]
    [shown] = {key for key, chosen, _text in windows + streams if chosen}
    [wanted] = [key for key, chosen, _text in windows if not chosen]
    # What the form sends: the list that was changed, and the one that was not.
    answer = client.get(address, {"metric": "goodput", "point": [wanted, shown], "shown": shown})
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{address}?point={wanted}&metric=goodput")
    after = lists_of(client.get(answer.headers["Location"]).content.decode())
    assert [chosen for _key, chosen, _text in after[0]] == [not chosen for _key, chosen, _text in windows]
    assert [chosen for _key, chosen, _text in after[1]] == [chosen for _key, chosen, _text in streams]


def test_an_unknown_point_shows_the_usual_one(
    client: Client, grid: tuple[str, list[Campaign]], cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    page = client.get(grid[0], {"point": "nothing", "shown": "<b>"})
    assert page.status_code == 200
    assert lists_of(page.content.decode()) == lists_of(client.get(grid[0]).content.decode())


def test_points_are_counted_by_campaign_not_by_trial(grid: tuple[str, list[Campaign]], cast: SimpleNamespace) -> None:
    lanes = list(Lane.objects.filter(experiment__campaign__in=grid[1]).values_list("pk", flat=True))
    found = points.settings_of(lanes)
    assert [item.campaigns for item in found] == [2, 2, 2, 2]
    grid[1][0].trials.filter(parameters__streams=4).update(state="failed")
    rewriting.update(grid[1][1].trials.filter(parameters__window=2**20), is_warmup=True)
    counted = {
        (item.parameters["window"], item.parameters["streams"]): item.campaigns for item in points.settings_of(lanes)
    }
    assert counted == {(2**16, 1): 2, (2**16, 4): 1, (2**20, 1): 1}
    assert points.settings_of([]) == []
