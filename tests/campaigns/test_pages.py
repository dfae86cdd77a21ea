"""Pages: campaigns listed, made, changed and steered; experiments defined; trials listed."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench.text import Message
from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser, form
from tests.campaigns.factories import NOW, take
from tests.pages import flat
from tests.rotation import part_of


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


def test_the_first_page_of_a_new_team_says_what_to_do(oscar: Client, cast: SimpleNamespace) -> None:
    page = oscar.get(address("campaign_list")).content.decode()
    assert "No campaigns yet" in page
    assert address("campaign_create") in page
    assert address("campaign_create") not in browser(cast.bob).get(address("campaign_list")).content.decode()


def test_the_list_shows_state_and_progress_in_few_queries(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        make.launched(cast, *pair, name=f"sweep {number}")
    with django_assert_max_num_queries(18):
        page = oscar.get(address("campaign_list")).content.decode()
    assert "sweep 7" in page
    assert "running" in page
    assert "sweep" not in oscar.get(address("campaign_list"), {"state": "paused"}).content.decode().split("<main")[1]
    assert "sweep 3" in oscar.get(address("campaign_list"), {"q": "sweep 3"}).content.decode()


def test_a_campaign_is_made_in_the_browser(oscar: Client, cast: SimpleNamespace) -> None:
    answer = oscar.post(
        address("campaign_create"),
        {"name": "Sweep", "goal": "Why?", "cron_timezone": "Asia/Seoul", "team": cast.team.slug},
    )
    campaign = Campaign.objects.get()
    assert answer.headers["location"] == address("campaign_detail", campaign.pk)
    assert (campaign.goal, campaign.cron_timezone, campaign.created_by) == ("Why?", "Asia/Seoul", cast.oscar)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"name": ""}, "required"),
        ({"cron": "sometimes"}, "write five fields"),
        ({"cron_timezone": "Moon"}, "no time zone"),
        ({"start_at": "soon"}, "no date and time"),
    ],
)
def test_what_is_wrong_with_a_campaign_stands_at_its_field(
    oscar: Client, cast: SimpleNamespace, values: dict[str, str], text: str
) -> None:
    sent = {"name": "Sweep", "cron_timezone": "UTC", "team": cast.team.slug, **values}
    answer = oscar.post(address("campaign_create"), sent)
    assert text in answer.content.decode()
    assert not Campaign.objects.exists()


def test_a_campaign_is_changed_cloned_and_deleted(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    make.experiment(draft, *pair)
    oscar.post(address("campaign_update", draft.pk), {"name": "Better", "cron_timezone": "UTC", "team": cast.team.pk})
    draft.refresh_from_db()
    assert draft.name == "Better"
    oscar.post(address("campaign_clone", draft.pk), {"name": "Better still"})
    assert Campaign.objects.get(name="Better still").experiments.count() == 1
    assert "there is no undo" in oscar.get(address("campaign_delete", draft.pk)).content.decode()
    oscar.post(address("campaign_delete", draft.pk))
    assert not Campaign.objects.filter(pk=draft.pk).exists()


def test_a_campaign_under_way_is_not_deleted_and_the_page_says_why(
    oscar: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    running = make.launched(cast, *pair)
    assert "With it go 4 trials" in oscar.get(address("campaign_delete", running.pk)).content.decode()
    answer = oscar.post(address("campaign_delete", running.pk), follow=True)
    assert "cancel it" in answer.content.decode()
    assert Campaign.objects.filter(pk=running.pk).exists()


def test_an_experiment_is_defined_in_the_browser(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    page = oscar.get(address("experiment_create", draft.pk), {"tool": "iperf3-tcp"}).content.decode()
    assert "param_window" in page
    assert "role_client" in page
    answer = oscar.post(address("experiment_create", draft.pk), form(pair, zips="", exclusions="window > 200KiB"))
    assert answer.status_code == 302
    experiment = Experiment.objects.get()
    assert experiment.factors == [{"name": "window", "expression": "64KiB..256KiB x2"}]
    assert experiment.fixed["duration"] == "2 s"
    assert experiment.exclusions == ["window > 200KiB"]
    assert [part.role for part in experiment.roles.all()] == ["client", "server"]
    kept = oscar.get(address("experiment_update", experiment.pk)).content.decode()
    assert "64KiB..256KiB x2" in kept
    assert f'value="node:{pair[0].pk}" selected' in kept
    oscar.post(address("experiment_update", experiment.pk), form(pair, repetitions="9"))
    experiment.refresh_from_db()
    assert experiment.repetitions == 9


def test_an_experiment_may_decide_while_it_is_measured(
    oscar: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    draft = make.campaign(cast)
    wanted = {"precision": "2.5", "most_repetitions": "12", "search_factor": "window", "search_goal": "maximum"}
    assert oscar.post(address("experiment_create", draft.pk), form(pair, **wanted)).status_code == 302
    experiment = Experiment.objects.get()
    assert (experiment.precision, experiment.most_repetitions) == (0.025, 12)
    assert (experiment.search_factor, experiment.search_goal, experiment.search_budget) == ("window", "maximum", 8)
    kept = oscar.get(address("experiment_update", experiment.pk)).content.decode()
    assert 'name="precision" value="2.5"' in kept
    assert '<option value="window" selected>' in kept
    refused = oscar.post(address("experiment_update", experiment.pk), form(pair, search_factor="streams"))
    assert refused.status_code == 422
    assert "is no factor of this experiment" in refused.content.decode()


@pytest.mark.parametrize(
    ("changes", "text"),
    part_of(
        [
            ({"name": ""}, "required"),
            ({"param_window": "big"}, "window"),
            ({"param_duration": "-1 s"}, "duration"),
            ({"role_client": []}, "Choose a node"),
            ({"role_client": ["node:0"]}, "This is not offered here"),
            ({"role_client": ["cluster:x"]}, "This is not offered here"),
            ({"repetitions": "0"}, "Too small: the minimum is 1."),
            ({"zips": "window, streams"}, "zipped but not swept"),
            ({"exclusions": "window >"}, "exclusions"),
            ({"param_streams": "1..128", "repetitions": "1000"}, "trials"),
        ]
    ),
)
def test_what_is_wrong_with_an_experiment_stands_in_form_and_preview(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], changes: dict[str, Any], text: str
) -> None:
    draft = make.campaign(cast)
    answer = oscar.post(address("experiment_create", draft.pk), form(pair, **changes))
    assert answer.status_code == 422
    assert text in answer.content.decode()
    preview = oscar.post(address("experiment_preview", draft.pk), form(pair, **changes))
    assert preview.status_code == 200
    assert "Not complete yet" in preview.content.decode()
    assert not Experiment.objects.exists()


def test_a_preview_shows_trials_points_bytes_and_warnings(
    oscar: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    draft = make.campaign(cast)
    shown = flat(oscar.post(address("experiment_preview", draft.pk), form(pair)).content.decode())
    assert "6 (3 points)" in shown
    assert "128KiB" in shown
    assert re.search(r"Over WAN</dt><dd[^>]*>[\d.]+ [KMG]iB at most<", shown)
    assert "kisti01 has no agent" in shown
    assert not Experiment.objects.exists()


def test_an_experiment_is_deleted_after_a_question(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    assert oscar.get(address("experiment_delete", experiment.pk)).status_code == 200
    assert Experiment.objects.exists()
    oscar.post(address("experiment_delete", experiment.pk))
    assert not Experiment.objects.exists()


def test_an_experiment_of_a_launched_campaign_is_not_changed(
    oscar: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    experiment = make.launched(cast, *pair).experiments.get()
    answer = oscar.post(address("experiment_update", experiment.pk), form(pair, repetitions="9"))
    assert "draft" in answer.content.decode()
    answer = oscar.post(address("experiment_delete", experiment.pk), follow=True)
    assert "draft" in answer.content.decode()
    experiment.refresh_from_db()
    assert experiment.repetitions == 2


def test_a_launch_is_confirmed_with_what_it_will_do(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    assert "add an experiment" in oscar.get(address("confirm_launch", draft.pk)).content.decode()
    make.experiment(draft, *pair)
    page = oscar.get(address("confirm_launch", draft.pk)).content.decode()
    assert "Over WAN" in page
    assert address("launch", draft.pk) in page
    answer = oscar.post(address("launch", draft.pk), follow=True)
    assert "The campaign is launched." in answer.content.decode()
    draft.refresh_from_db()
    assert draft.state == "running"


def test_a_campaign_is_steered_from_its_page(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)

    def state() -> str:
        campaign.refresh_from_db()
        return campaign.state

    oscar.post(address("pause", campaign.pk))
    assert state() == "paused"
    oscar.post(address("resume", campaign.pk))
    assert state() == "running"
    assert "What was measured is kept" in oscar.get(address("cancel", campaign.pk)).content.decode()
    assert state() == "running"
    oscar.post(address("cancel", campaign.pk))
    assert state() == "cancelled"
    answer = oscar.post(address("resume", campaign.pk), follow=True)
    assert "Only a paused campaign" in answer.content.decode()


def test_a_scheduled_campaign_shows_its_dates_and_can_be_withdrawn(
    oscar: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    series = make.campaign(cast, cron="0 3 * * *", cron_timezone="Asia/Seoul")
    make.experiment(series, *pair)
    oscar.post(address("launch", series.pk))
    assert "Next starts" in oscar.get(address("campaign_detail", series.pk)).content.decode()
    oscar.post(address("withdraw", series.pk))
    series.refresh_from_db()
    assert series.state == "draft"


def test_the_page_shows_what_the_nodes_are_busy_with(
    oscar: Client, cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries: Any
) -> None:
    campaign = make.launched(cast, *pair)
    (run,) = take()
    status = oscar.get(address("campaign_status", campaign.pk)).content.decode()
    assert "0 of 4 trials" in status
    assert "kisti01" in status
    assert reverse("results:trial", args=[run.trial_id]) in status
    with django_assert_max_num_queries(40):
        page = oscar.get(address("campaign_detail", campaign.pk)).content.decode()
    assert "<svg" in page
    assert reverse("results:experiment_panel", args=[run.trial.experiment_id]) in page
    assert f"/ws/campaigns/{campaign.pk}/" in page


def test_the_log_shows_failures_in_words(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    reason = Message("No route to %(node)s.", {"node": "<pnu01>"})
    services.fail_run(run=take()[0], reason=reason, code="no-route", retryable=False, now=NOW)
    log = oscar.get(address("campaign_events", campaign.pk)).content.decode()
    assert "No route to &lt;pnu01&gt;." in log
    page = oscar.get(address("campaign_detail", campaign.pk)).content.decode()
    assert address("rerun_failed", campaign.pk) in page
    oscar.post(address("rerun_failed", campaign.pk))
    assert not Trial.objects.filter(state="failed").exists()


def test_trials_are_listed_by_state_and_experiment(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    trial = take()[0].trial
    everything = oscar.get(address("results:trial_list", campaign.pk)).content.decode()
    assert "64 KiB" in everything
    running = oscar.get(address("results:trial_list", campaign.pk), {"state": "running"}).content.decode()
    assert reverse("results:trial", args=[trial.pk]) in running
    assert running.count('<th scope="row"><a') == 1
    for wrong in ({"state": "busy"}, {"experiment": "x"}, {"experiment": "9" * 30}, {"page": "many"}):
        assert oscar.get(address("results:trial_list", campaign.pk), wrong).status_code == 200


def test_what_people_typed_is_never_markup(oscar: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    evil = "<script>alert(1)</script>"
    draft = make.campaign(cast, name=evil, goal=evil)
    make.experiment(draft, *pair, name=evil)
    services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)
    for name in (
        "campaign_detail",
        "campaign_status",
        "campaign_events",
        "results:trial_list",
        "cancel",
        "campaign_clone",
    ):
        assert evil not in oscar.get(address(name, draft.pk)).content.decode()
    assert evil not in oscar.get(address("campaign_list")).content.decode()
