"""Campaigns and experiments made, changed, cloned and deleted."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404

from apps.campaigns import errors, services
from apps.campaigns.models import Campaign, Experiment
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW


def test_a_new_campaign_is_a_draft_of_its_maker(cast: SimpleNamespace) -> None:
    campaign = make.campaign(cast, goal="Does the window matter?")
    assert (campaign.state, campaign.created_by, campaign.team) == ("draft", cast.oscar, cast.team)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"cron": "often"}, "cron"),
        ({"cron": "0 0 * * *", "cron_timezone": "Nowhere"}, "cron_timezone"),
    ],
)
def test_it_names_the_field_of_a_campaign_that_is_wrong(
    cast: SimpleNamespace, values: dict[str, str], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make.campaign(cast, **values)
    assert caught.value.message_dict.keys() == {field}


def test_viewers_and_strangers_make_no_campaign(cast: SimpleNamespace) -> None:
    with pytest.raises(PermissionDenied):
        make.campaign(cast, user=cast.bob)
    with pytest.raises(Http404):
        make.campaign(cast, user=cast.charlie)


def test_name_and_goal_change_at_any_time_but_dates_only_in_a_draft(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    services.update_campaign(campaign=draft, user=cast.oscar, now=NOW, cron="0 3 * * *")
    running = make.launched(cast, *pair)
    services.update_campaign(campaign=running, user=cast.oscar, now=NOW, name="Better name", cron="")
    running.refresh_from_db()
    assert running.name == "Better name"
    with pytest.raises(errors.WrongState):
        services.update_campaign(campaign=running, user=cast.oscar, now=NOW, start_at=NOW)


def test_a_clone_has_the_experiments_and_roles_but_no_trials(cast: SimpleNamespace, pair: list[Node]) -> None:
    original = make.launched(cast, *pair)
    clone = services.clone_campaign(campaign=original, user=cast.alice)
    (experiment,) = clone.experiments.all()
    assert (clone.state, clone.created_by, clone.cloned_from) == ("draft", cast.alice, original)
    assert clone.name == "Window sweep (copy)"
    assert experiment.factors == [{"name": "window", "expression": "64KiB, 1MiB"}]
    assert [(part.role, part.node) for part in experiment.roles.all()] == [("client", pair[0]), ("server", pair[1])]
    assert clone.trials.count() == 0
    assert original.experiments.get().roles.count() == 2


def test_a_clone_of_a_series_keeps_its_dates_and_a_long_name_still_fits(cast: SimpleNamespace) -> None:
    original = make.campaign(cast, name="n" * 200, cron="0 3 * * *", cron_timezone="Asia/Seoul")
    clone = services.clone_campaign(campaign=original, user=cast.oscar)
    assert (clone.cron, clone.cron_timezone) == (original.cron, original.cron_timezone)
    assert len(clone.name) <= 200
    assert services.clone_campaign(campaign=original, user=cast.oscar, name="Mine").name == "Mine"


def test_a_draft_and_a_finished_campaign_can_be_deleted(cast: SimpleNamespace, pair: list[Node]) -> None:
    services.delete_campaign(campaign=make.campaign(cast), user=cast.oscar, now=NOW)
    finished = make.launched(cast, *pair, factors=[], repetitions=1)
    services.succeed_run(run=make.take()[0], now=NOW)
    services.finish_campaigns(now=NOW)
    services.delete_campaign(campaign=finished, user=cast.oscar, now=NOW)
    assert Campaign.objects.count() == 0


def test_a_campaign_under_way_is_not_deleted(cast: SimpleNamespace, pair: list[Node]) -> None:
    running = make.launched(cast, *pair)
    make.take()
    with pytest.raises(errors.WrongState):
        services.delete_campaign(campaign=running, user=cast.oscar, now=NOW)
    services.cancel_campaign(campaign=running, user=cast.oscar, now=NOW)
    with pytest.raises(errors.WrongState, match="runs have ended"):
        services.delete_campaign(campaign=running, user=cast.oscar, now=NOW)


def test_experiments_stand_one_after_the_other(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    assert [make.experiment(draft, *pair).position for _number in range(3)] == [0, 1, 2]


def test_an_experiment_is_changed_as_a_whole(cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    services.update_experiment(
        experiment=experiment, user=cast.oscar, repetitions=5, roles=make.players(client=pair[1], server=pair[0])
    )
    experiment.refresh_from_db()
    assert experiment.repetitions == 5
    assert [(part.role, part.node) for part in experiment.roles.all()] == [("client", pair[1]), ("server", pair[0])]


def test_a_wrong_change_changes_nothing(cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    with pytest.raises(ValidationError):
        services.update_experiment(experiment=experiment, user=cast.oscar, fixed={"duration": "long"})
    with pytest.raises(ValidationError):
        services.update_experiment(experiment=experiment, user=cast.oscar, roles=make.players(client=pair[0]))
    kept = Experiment.objects.get()
    assert kept.fixed == {"duration": "2 s"}
    assert kept.roles.count() == 2


def test_an_experiment_of_a_launched_campaign_stays_as_it_is(cast: SimpleNamespace, pair: list[Node]) -> None:
    running = make.launched(cast, *pair)
    experiment = running.experiments.get()
    with pytest.raises(errors.WrongState):
        services.update_experiment(experiment=experiment, user=cast.oscar, repetitions=9)
    with pytest.raises(errors.WrongState):
        services.delete_experiment(experiment=experiment, user=cast.oscar)
    with pytest.raises(errors.WrongState):
        make.experiment(running, *pair)


def test_an_experiment_of_a_draft_can_be_taken_out(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast)
    services.delete_experiment(experiment=make.experiment(draft, *pair), user=cast.oscar)
    assert draft.experiments.count() == 0


def test_viewers_change_no_experiment(cast: SimpleNamespace, pair: list[Node]) -> None:
    experiment = make.experiment(make.campaign(cast), *pair)
    for person, refusal in ((cast.bob, PermissionDenied), (cast.charlie, Http404)):
        with pytest.raises(refusal):
            services.update_experiment(experiment=experiment, user=person, repetitions=9)
        with pytest.raises(refusal):
            services.delete_experiment(experiment=experiment, user=person)
        with pytest.raises(refusal):
            services.update_campaign(campaign=experiment.campaign, user=person, now=NOW, name="x")
        with pytest.raises(refusal):
            services.delete_campaign(campaign=experiment.campaign, user=person, now=NOW)
        with pytest.raises(refusal):
            services.clone_campaign(campaign=experiment.campaign, user=person)


@pytest.mark.parametrize("name", ["\u200b", "Sweep\u202e", "\u2066Sweep", "\u2800"])
def test_a_name_in_which_something_cannot_be_seen_is_refused(cast: SimpleNamespace, name: str) -> None:
    draft = make.campaign(cast)
    calls = [
        lambda: services.create_campaign(team=cast.team, user=cast.oscar, now=NOW, name=name),
        lambda: services.update_campaign(campaign=draft, user=cast.oscar, now=NOW, name=name),
        lambda: services.clone_campaign(campaign=draft, user=cast.oscar, name=name),
    ]
    for call in calls:
        with pytest.raises(ValidationError, match="cannot be seen") as refused:
            call()
        assert list(refused.value.message_dict) == ["name"]
    # One that has such a name is changed in all else.
    Campaign.objects.filter(pk=draft.pk).update(name=name)
    assert services.update_campaign(campaign=draft, user=cast.oscar, now=NOW, goal="See it.", name=name).name == name
