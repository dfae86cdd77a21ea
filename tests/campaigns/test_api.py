"""REST: campaigns, experiments, trials, runs and tools."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.bench.text import Message
from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, experiment_body
from tests.campaigns.factories import NOW, take
from tests.rotation import part_of


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Api:
    """Return the operator's client."""
    return Api(cast.oscar)


def test_the_whole_way_from_a_draft_to_a_launch(oscar: Api, pair: list[Node]) -> None:
    made = oscar("post", "/campaigns/", {"name": "Sweep", "goal": "Find the window."})
    assert made.status_code == 201
    pk = made.json()["id"]
    experiment = oscar("post", "/experiments/", experiment_body(pk, pair))
    assert experiment.status_code == 201
    assert experiment.json()["roles"][0] == {"role": "client", "node": pair[0].pk, "cluster": None}
    preview = oscar("get", f"/campaigns/{pk}/preview/").json()
    assert (preview["trials"], preview["points"], preview["lanes"]) == (6, 3, 1)
    assert preview["links"][0]["link"] == "WAN"
    assert preview["warnings"]
    launched = oscar("post", f"/campaigns/{pk}/launch/")
    assert launched.status_code == 200
    assert launched.json()["state"] == "running"
    assert launched.json()["progress"]["pending"] == 6
    trials = oscar("get", "/trials/", campaign=pk, state="pending").json()
    assert trials["count"] == 6
    assert trials["results"][0]["nodes"] == {"client": [pair[0].pk], "server": [pair[1].pk]}


def test_every_way_to_steer(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    pk = make.launched(cast, *pair).pk
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        answer = oscar("post", f"/campaigns/{pk}/{action}/")
        assert (answer.status_code, answer.json()["state"]) == (200, state)
    clone = oscar("post", f"/campaigns/{pk}/clone/", {"name": "Again"})
    assert (clone.status_code, clone.json()["name"], clone.json()["cloned_from"]) == (201, "Again", pk)
    scheduled = oscar("patch", f"/campaigns/{clone.json()['id']}/", {"cron": "0 3 * * *"}).json()
    assert oscar("post", f"/campaigns/{scheduled['id']}/launch/").json()["next_at"]
    assert oscar("post", f"/campaigns/{scheduled['id']}/withdraw/").json()["state"] == "draft"


def test_failed_trials_are_run_again(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    campaign = make.launched(cast, *pair)
    services.fail_run(run=take()[0], reason=Message("No."), code="refused", retryable=False, now=NOW)
    assert oscar("post", f"/campaigns/{campaign.pk}/rerun-failed/").json() == {"count": 1}
    refused = oscar("post", f"/campaigns/{campaign.pk}/rerun-failed/")
    assert refused.status_code == 409
    assert "nothing to run again" in refused.json()["detail"]


def test_an_action_the_state_does_not_allow_says_why(oscar: Api, cast: SimpleNamespace) -> None:
    answer = oscar("post", f"/campaigns/{make.campaign(cast).pk}/pause/")
    assert answer.status_code == 409
    assert answer.json() == {"detail": "Only a running or scheduled campaign can be paused.", "fields": {}}


@pytest.mark.parametrize(
    ("changes", "field"),
    part_of(
        [
            ({"fixed": {"duration": "soon"}}, "fixed.duration"),
            ({"factors": [{"name": "window", "expression": "big"}]}, "factors.window"),
            ({"factors": [{"name": "window"}]}, "factors.0.expression"),
            ({"factors": "64KiB"}, "factors.non_field_errors"),
            ({"fixed": [1]}, "fixed"),
            ({"zips": [["window", "streams"]]}, "zips.0"),
            ({"exclusions": ["window >>> 3"]}, "exclusions.0"),
            ({"repetitions": 0}, "repetitions"),
            ({"repetitions": "many"}, "repetitions"),
            ({"seed": -1}, "seed"),
            ({"seed": 2**40}, "seed"),
            ({"tool": "no-such-tool"}, "tool"),
            ({"tool": ""}, "tool"),
            ({"name": ""}, "name"),
            ({"order": "sideways"}, "order"),
            ({"max_attempts": 0}, "max_attempts"),
            ({"roles": []}, "roles.client"),
            ({"roles": [{"role": "client"}]}, "roles.0.non_field_errors"),
            ({"roles": [{"role": "client", "node": 10**12}]}, "roles.0.node"),
            ({"roles": [{"role": "client", "node": 10**30}]}, "roles.0.node"),
            ({"roles": {"client": 1}}, "roles.non_field_errors"),
            ({"campaign": 10**9}, "campaign"),
            ({"campaign": None}, "campaign"),
            ({"fixed": {"duration": "2 s\u0000"}}, "fixed.duration"),
            ({"exclusions": ["window > 1\u0000"]}, "exclusions.0"),
        ]
    ),
)
def test_a_wrong_experiment_is_refused_with_the_field(
    oscar: Api, pair: list[Node], cast: SimpleNamespace, changes: dict[str, Any], field: str
) -> None:
    body = {**experiment_body(make.campaign(cast).pk, pair), **changes}
    for path in ("/experiments/", "/experiments/preview/"):
        answer = oscar("post", path, body)
        assert answer.status_code == 400
        assert field in answer.json()["fields"]
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"cron": "never"}, "cron"),
        ({"cron": "0 0 * * *", "cron_timezone": "Moon"}, "cron_timezone"),
        ({"start_at": "tomorrow"}, "start_at"),
        ({"team": "elsewhere"}, "team"),
    ],
)
def test_a_wrong_campaign_is_refused_with_the_field(oscar: Api, changes: dict[str, Any], field: str) -> None:
    answer = oscar("post", "/campaigns/", {"name": "Sweep", **changes})
    assert answer.status_code == 400
    assert field in answer.json()["fields"]


def test_a_sweep_can_be_previewed_before_it_is_kept(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    body = experiment_body(make.campaign(cast).pk, pair)
    preview = oscar("post", "/experiments/preview/", body).json()
    assert preview["factors"] == ["window"]
    assert preview["rows"][0] == {"nodes": "kisti01 → pnu01", "values": ["64KiB"]}
    assert preview["duration_s"] > 12
    assert not Experiment.objects.exists()
    made = oscar("post", "/experiments/", body).json()
    assert oscar("get", f"/experiments/{made['id']}/preview/").json()["trials"] == preview["trials"]


def test_an_experiment_can_be_changed_in_part_and_deleted(
    oscar: Api, pair: list[Node], cast: SimpleNamespace
) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    changed = oscar("patch", f"/experiments/{experiment.pk}/", {"repetitions": 7}).json()
    assert (changed["repetitions"], len(changed["roles"])) == (7, 2)
    roles = [{"role": "client", "node": pair[1].pk}, {"role": "server", "node": pair[0].pk}]
    swapped = oscar("patch", f"/experiments/{experiment.pk}/", {"roles": roles}).json()
    assert swapped["roles"][0]["node"] == pair[1].pk
    assert oscar("delete", f"/experiments/{experiment.pk}/").status_code == 204


def test_a_campaign_under_way_is_not_deleted(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    campaign = make.launched(cast, *pair)
    assert oscar("delete", f"/campaigns/{campaign.pk}/").status_code == 409
    assert oscar("delete", f"/campaigns/{make.campaign(cast).pk}/").status_code == 204


def test_the_log_is_in_words(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    campaign = make.launched(cast, *pair)
    services.fail_run(
        run=take()[0], reason=Message("No route to %(n)s.", {"n": "pnu01"}), code="x", retryable=False, now=NOW
    )
    log = oscar("get", f"/campaigns/{campaign.pk}/events/", page_size=2).json()
    assert log["count"] == 4
    assert log["results"][0]["level"] == "error"
    assert log["results"][0]["text"].endswith("failed at attempt 1. No route to pnu01.")


def test_a_reason_is_in_words_on_trials_and_runs(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    make.launched(cast, *pair)
    services.fail_run(
        run=take()[0],
        reason=Message("No route to %(n)s.", {"n": "pnu01"}),
        remedy=Message("Mend it."),
        code="no-route",
        retryable=False,
        now=NOW,
    )
    wanted = {"code": "no-route", "message": "No route to pnu01.", "remedy": "Mend it.", "retryable": False}
    assert oscar("get", "/trials/", state="failed").json()["results"][0]["reason"] == wanted
    campaign = Campaign.objects.get()
    run = oscar("get", "/runs/", campaign=campaign.pk).json()["results"][0]
    assert (run["reason"], run["experiment"]) == (wanted, campaign.experiments.get().pk)
    assert oscar("get", "/runs/", experiment=run["experiment"], state="failed").json()["results"] == [run]
    assert oscar("get", "/runs/", experiment=run["experiment"] + 1).status_code == 400
    assert oscar("get", f"/runs/{run['id']}/").status_code == 200


def test_lists_are_filtered_searched_and_ordered(oscar: Api, pair: list[Node], cast: SimpleNamespace) -> None:
    make.campaign(cast, name="alpha")
    running = make.launched(cast, *pair, name="beta")
    assert [row["name"] for row in oscar("get", "/campaigns/", state="running").json()["results"]] == ["beta"]
    assert [row["name"] for row in oscar("get", "/campaigns/", search="alp").json()["results"]] == ["alpha"]
    assert [row["name"] for row in oscar("get", "/campaigns/", ordering="-name").json()["results"]] == [
        "beta",
        "alpha",
    ]
    assert oscar("get", "/campaigns/", team=cast.team.slug).json()["count"] == 2
    assert oscar("get", "/campaigns/", launched_after=NOW.isoformat()).json()["count"] == 1
    assert oscar("get", "/experiments/", campaign=running.pk).json()["count"] == 1
    assert oscar("get", "/trials/", experiment=running.experiments.get().pk, point=1).json()["count"] == 2
    assert oscar("get", "/trials/", tool="ping").json()["count"] == 0
    assert oscar("get", "/campaigns/", state="busy").status_code == 400


def test_lists_take_as_many_queries_for_many_as_for_few(
    oscar: Api, pair: list[Node], cast: SimpleNamespace, django_assert_max_num_queries: Callable
) -> None:
    for number in range(12):
        make.launched(cast, *pair, name=f"c{number}")
    for path in ("/campaigns/", "/experiments/", "/trials/", "/runs/"):
        with django_assert_max_num_queries(13):
            assert oscar("get", path).status_code == 200


def test_tools_show_parameters_and_metrics(oscar: Api) -> None:
    listed = oscar("get", "/tools/").json()
    assert {"ping", "iperf3-tcp"} <= {tool["slug"] for tool in listed}
    tool = oscar("get", "/tools/iperf3-tcp/").json()
    window = next(item for item in tool["parameters"] if item["name"] == "window")
    assert (window["kind"], window["unit"]) == ("size", "B")
    assert next(item for item in tool["metrics"] if item["primary"])["name"] == "goodput"
    assert [role["name"] for role in tool["roles"]] == ["client", "server"]
    assert oscar("get", "/tools/no-such-tool/").status_code == 404


def test_a_later_start_is_scheduled(oscar: Api, pair: list[Node]) -> None:
    later = (timezone.now() + timedelta(days=1)).isoformat()
    pk = oscar("post", "/campaigns/", {"name": "Later", "start_at": later}).json()["id"]
    oscar("post", "/experiments/", experiment_body(pk, pair))
    assert oscar("get", f"/campaigns/{pk}/preview/").json()["dates"]
    assert oscar("post", f"/campaigns/{pk}/launch/").json()["state"] == "scheduled"
