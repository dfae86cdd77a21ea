"""The pages of histories: what they show, to whom, and what people can say of a change."""

import csv
import io
import json
import re
from datetime import timedelta
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.agents.models import FactSnapshot
from apps.campaigns.models import Campaign, Lane, Trial
from apps.comparison.history import series
from apps.comparison.models import ChangePoint
from apps.testbeds.models import Node
from tests import rewriting
from tests.comparison.history.conftest import START, WEEK, add_result, again, measured
from tests.pages import flat


def newest(campaigns: list[Campaign]) -> Lane:
    return Lane.objects.filter(experiment__campaign=campaigns[-1]).get()


def pages(lane: Lane) -> list[str]:
    return [reverse(f"history:{end}", args=[lane.pk]) for end in ("detail", "csv", "json")]


def chart_of(page: str) -> dict[str, Any]:
    found = re.search(r'data-chart="([^"]*)"', page)
    assert found, page
    return json.loads(unescape(found[1]))


def test_a_stranger_is_sent_to_sign_in(client: Client, repeated: list[Campaign]) -> None:
    for address in [*pages(newest(repeated)), reverse("history:list")]:
        assert client.get(address).status_code == 302, address


def test_another_team_finds_nothing(client: Client, repeated: list[Campaign], cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    for address in pages(newest(repeated)):
        assert client.get(address).status_code == 404, address
    assert "Nothing was measured twice yet" in client.get(reverse("history:list")).content.decode()


def test_what_was_repeated_is_listed_and_can_be_searched(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, list(reversed(pair)), 5e8, START, name="Once only")
    client.force_login(cast.bob)
    address = reverse("history:list")
    page = client.get(address).content.decode()
    assert "kisti01 → pnu01" in page
    assert "pnu01 → kisti01" not in page
    assert f'href="{pages(newest(repeated))[0]}"' in page
    assert "kisti01 → pnu01" in client.get(address, {"q": "pnu iperf3"}).content.decode()
    assert "Nothing matches" in client.get(address, {"q": "knu"}).content.decode()


def test_a_viewer_sees_levels_change_and_versions_but_no_buttons(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    assert "From 940.2 Mbit/s to 752.2 Mbit/s" in page
    assert "worse" in page
    assert "<code>3.12</code>→<code>3.17</code>" in flat(page)
    assert "Between the campaigns “Week 3” and “Week 4”" in page
    assert 'value="dismissed"' not in page


def test_the_chart_has_a_point_a_campaign_and_marks_the_change(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    chart = chart_of(client.get(pages(newest(repeated))[0]).content.decode())
    points = chart["series"][0]["points"]
    assert [point["note"] for point in points] == [f"Week {place}" for place in range(8)]
    assert points[0]["x"] == START.timestamp()
    marks = [line for line in chart["lines"] if line["axis"] == "x"]
    assert [(mark["style"], mark["label"]) for mark in marks] == [("change", "-20 %")]
    assert points[3]["x"] < marks[0]["value"] < points[4]["x"]
    levels = [line for line in chart["lines"] if line["axis"] == "y"]
    assert [(line["from"], line["to"]) for line in levels] == [
        (points[0]["x"], points[3]["x"]),
        (points[4]["x"], points[7]["x"]),
    ]


def test_what_the_agents_told_differently_stands_beside_the_change(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    for week, mtu in ((-1, 9000), (3.5, 1500)):
        made = FactSnapshot.objects.create(
            node=pair[1], digest=str(mtu), facts={"interfaces": [{"name": "eth0", "mtu": mtu}]}
        )
        FactSnapshot.objects.filter(pk=made.pk).update(created_at=START + week * WEEK)
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    assert "pnu01 told since:" in page
    assert "interfaces › eth0 › mtu</code>: 9000 → 1500" in flat(page)


def test_invalid_figures_warm_ups_and_other_campaigns_do_not_count(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    late = START + 20 * WEEK
    campaign = measured(cast, pair, 9e8, late, name="Odd ones", repetitions=2)
    trial = campaign.trials.first()
    rewriting.delete(trial.runs.all())
    flag = {"name": "cached", "severity": "invalid", "metrics": ["goodput"]}
    add_result(trial, 1.0, late, flags=[flag])
    rewriting.update(Trial.objects.filter(pk=campaign.trials.last().pk), is_warmup=True)
    measured(cast, pair, 1e6, late + timedelta(hours=1), name="Printed")
    Campaign.objects.filter(name="Printed").update(origin="published")
    measured(cast, pair, 1e6, late + timedelta(hours=2), name="Going")
    Campaign.objects.filter(name="Going").update(deleting_at=late)
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    assert len(chart_of(page)["series"][0]["points"]) == 8


def test_another_point_and_metric_have_histories_of_their_own(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    factors = [{"name": "window", "expression": "64KiB, 1MiB"}]
    measured(cast, pair, 3e8, START + 13 * WEEK, name="Both windows", factors=factors, repetitions=1)
    client.force_login(cast.bob)
    address = pages(newest(repeated))[0]
    page = client.get(address).content.decode()
    options = dict(re.findall(r'<option value="([0-9a-f]{12})"[^>]*>([^<]*)<', flat(page)))
    assert list(options.values()) == ["64 KiB (1)", "1 MiB (9)"]
    key = next(key for key, label in options.items() if "64" in label)
    chart = chart_of(client.get(address, {"point": key}).content.decode())
    assert [point["note"] for point in chart["series"][0]["points"]] == ["Both windows"]
    chart = chart_of(client.get(address, {"metric": "retransmits"}).content.decode())
    assert {point["y"] for point in chart["series"][0]["points"]} == {0.0}
    assert not chart["lines"]


def test_a_history_without_figures_says_what_it_waits_for(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = measured(cast, pair, 1e8, START)
    Trial.objects.filter(campaign=campaign).update(state="pending")
    client.force_login(cast.bob)
    assert "No figures yet" in client.get(pages(newest([campaign]))[0]).content.decode()
    assert client.get(pages(newest([campaign]))[1]).status_code == 404


def test_csv_and_json_have_a_line_a_campaign_in_base_units(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    _page, as_csv, as_json = pages(newest(repeated))
    rows = list(csv.DictReader(io.StringIO(client.get(as_csv).content.decode())))
    assert [row["name"] for row in rows] == [f"Week {place}" for place in range(8)]
    assert [place for place, row in enumerate(rows) if row["change"]] == [4]
    assert float(rows[0]["median"]) == pytest.approx(940e6 * 1.002 * 1.00025)
    assert [row["median"] for row in client.get(as_json).json()] == [float(row["median"]) for row in rows]


def test_of_very_much_the_newest_campaigns_are_looked_at(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "MOST_TRIALS", 7)
    client.force_login(cast.bob)
    points = chart_of(client.get(pages(newest(repeated))[0]).content.decode())["series"][0]["points"]
    # Two trials a campaign: a fourth would be the eighth trial.
    assert [point["note"] for point in points] == ["Week 5", "Week 6", "Week 7"]


def test_the_page_costs_a_bounded_number_of_queries(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(24):
        client.get(pages(newest(repeated))[0])
    with django_assert_max_num_queries(12):
        client.get(reverse("history:list"))


def decide(client: Client, lane: Lane, campaign: Campaign, state: str, explanation: str = "") -> str:
    answer = client.post(
        reverse("history:decide", args=[lane.pk]),
        {"campaign": campaign.pk, "state": state, "explanation": explanation},
        follow=True,
    )
    return answer.content.decode()


def test_who_may_decide(client: Client, repeated: list[Campaign], cast: SimpleNamespace) -> None:
    address = reverse("history:decide", args=[newest(repeated).pk])
    given = {"campaign": repeated[4].pk, "state": "confirmed"}
    assert client.post(address, given).status_code == 302
    for person, status in ((cast.charlie, 404), (cast.bob, 403)):
        client.force_login(person)
        assert client.post(address, given).status_code == status
    assert not ChangePoint.objects.exists()
    client.force_login(cast.oscar)
    assert client.get(address).status_code == 405
    assert client.post(address, given).status_code == 302
    assert ChangePoint.objects.get().state == "confirmed"


def test_a_change_is_explained_then_dismissed_then_opened_again(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    lane = newest(repeated)
    page = decide(client, lane, repeated[4], "explained", "The MTU fell to 1500.")
    assert "“The MTU fell to 1500.”" in page
    kept = ChangePoint.objects.get()
    assert (kept.decided_by, kept.campaign, kept.metric) == (cast.oscar, repeated[4], "goodput")
    assert kept.after / kept.before == pytest.approx(0.8, rel=0.01)
    page = decide(client, lane, repeated[4], "dismissed", "A test of ours.")
    assert ChangePoint.objects.get().state == "dismissed"
    # One level again: nothing is drawn of the change but its mark, in another style.
    assert [(line["axis"], line["style"]) for line in chart_of(page)["lines"]] == [("x", "dismissed")]
    decide(client, lane, repeated[4], "open")
    assert not ChangePoint.objects.exists()


@pytest.mark.parametrize("state", ["explained", "dismissed"])
def test_an_explanation_needs_words(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, state: str
) -> None:
    client.force_login(cast.oscar)
    assert "Say why" in decide(client, newest(repeated), repeated[4], state, "  ")
    assert not ChangePoint.objects.exists()


@pytest.mark.parametrize(
    ("place", "state", "words"),
    [
        (2, "confirmed", "no change at this campaign"),
        (4, "open", "no change at this campaign"),
        (4, "nonsense", "Choose confirm"),
    ],
)
def test_what_cannot_be_decided_is_said(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, place: int, state: str, words: str
) -> None:
    client.force_login(cast.oscar)
    assert words in decide(client, newest(repeated), repeated[place], state)
    assert not ChangePoint.objects.exists()


def test_a_decision_outlives_a_change_that_is_no_longer_found(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    lane = newest(repeated)
    decide(client, lane, repeated[4], "confirmed")
    ChangePoint.objects.update(campaign=repeated[2])
    page = client.get(pages(lane)[0]).content.decode()
    assert "Decided earlier, no longer found" in page
    assert "at “Week 2”, from 940.2 Mbit/s to 752.2 Mbit/s" in page


def test_a_metric_of_another_history_keeps_its_own_decisions(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    client.force_login(cast.oscar)
    decide(client, newest(repeated), repeated[4], "confirmed")
    first = measured(cast, list(reversed(pair)), 9e8, START, name="Back 0")
    rates = [9.01e8, 9.02e8, 9.01e8, 7e8, 7.01e8, 7.02e8, 7.01e8]
    backwards = [again(first, rate, START + place * WEEK, f"Back {place}", "") for place, rate in enumerate(rates, 1)]
    page = client.get(pages(newest(backwards))[0]).content.decode()
    assert "From 901.2 Mbit/s to 701.2 Mbit/s" in page
    assert "state-confirmed" not in page


def test_experiments_and_trials_lead_to_their_history(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    lane, trial = newest(repeated), repeated[-1].trials.first()
    address = pages(lane)[0]
    page = client.get(reverse("results:experiment", args=[lane.experiment_id])).content.decode()
    assert f'href="{address}"' in page
    page = client.get(reverse("results:trial", args=[trial.pk])).content.decode()
    [link] = re.findall(rf'href="({address}\?point=[^"]*)"', page)
    assert len(chart_of(client.get(link).content.decode())["series"][0]["points"]) == 8
