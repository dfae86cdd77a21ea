"""Experiments with a team's own tool: chosen, refused to others, planned, and shown when its versions go on."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from apps.agents.models import FactSnapshot
from apps.campaigns.models import Trial
from apps.results.models import Result, Sample
from apps.toolbox import services
from tests.campaigns import factories as make
from tests.pages import flat
from workers import permits, plans


@pytest.fixture
def node(cast):
    return make.nodes(cast.team, "north")[0]


def experiment(cast, node, **values):
    defaults = {"name": "blocks", "tool": "site-digest.v1", "roles": make.players(node=node), "repetitions": 1}
    draft = make.campaign(cast, name="Digests")
    return make.services.create_experiment(campaign=draft, user=cast.oscar, **{**defaults, **values})


def test_an_experiment_sweeps_its_parameters(cast, tool, node):
    made = experiment(cast, node, factors=[{"name": "block", "expression": "1KiB, 16KiB"}])
    make.services.launch_campaign(campaign=made.campaign, user=cast.oscar, now=make.NOW)
    trials = Trial.objects.filter(experiment=made)
    assert {trial.parameters["block"] for trial in trials} == {1024, 16384}
    run = make.take()[0]
    (stage,) = plans.make_plan(run).stages
    assert stage.commands[0].argv[:3] == ("openssl", "speed", "-seconds")


def test_its_refusals_stand_at_their_fields(cast, tool, node):
    with pytest.raises(ValidationError) as caught:
        experiment(cast, node, fixed={"block": "2 MiB", "digest": "nosuch"})
    assert set(caught.value.message_dict) == {"fixed.block", "fixed.digest"}


def test_another_team_cannot_use_it(cast, tool, node):
    (strange,) = make.nodes(cast.other_team, "south", site="Busan")
    draft = make.campaign(cast, name="Strange", team=cast.other_team, user=cast.charlie)
    with pytest.raises(ValidationError) as caught:
        make.services.create_experiment(
            campaign=draft, user=cast.charlie, name="x", tool="site-digest.v1", roles=make.players(node=strange)
        )
    assert list(caught.value.message_dict) == ["tool"]
    assert "site-digest" not in str(caught.value.message_dict["tool"]).partition("choose one of")[2]


def test_the_form_offers_the_latest_version_and_the_one_chosen(client, cast, tool, node, definition):
    made = experiment(cast, node)
    services.change_tool(tool=tool, user=cast.alice, definition={**definition, "name": "Digest anew"})
    client.force_login(cast.oscar)
    new = client.get(reverse("campaigns:experiment_create", args=[made.campaign_id])).content.decode()
    assert "?tool=site-digest.v2" in new
    assert "?tool=site-digest.v1" not in new
    old = client.get(reverse("campaigns:experiment_update", args=[made.pk])).content.decode()
    assert '?tool=site-digest.v1" aria-current="true"' in flat(old)
    client.force_login(cast.charlie)
    assert client.get(reverse("campaigns:experiment_create", args=[made.campaign_id])).status_code == 404


def test_which_nodes_allow_a_program_is_told_by_their_agents(cast, node):
    assert permits.permits_of_team(team=cast.team) == []
    facts = {"tools": {"openssl": {"path": "/usr/bin/openssl", "version": "3"}}}
    FactSnapshot.objects.create(node=node, digest="x", facts=facts)
    (permit,) = permits.permits_of_team(team=cast.team)
    assert (permit.program, permit.nodes) == ("openssl", ("north",))
    assert permits.permits_of_team(team=cast.other_team) == []


def test_its_results_have_pages_and_units(client, cast, tool, node):
    made = experiment(cast, node, factors=[{"name": "block", "expression": "1KiB, 16KiB"}])
    make.services.launch_campaign(campaign=made.campaign, user=cast.oscar, now=make.NOW)
    trial = Trial.objects.filter(experiment=made).first()
    run = make.take()[0]
    result = Result.objects.create(run=run, trial=run.trial, experiment=made, tool="site-digest.v1")
    Sample.objects.create(result=result, trial=run.trial, experiment=made, metric="speed", value=1.5e9)
    client.force_login(cast.bob)
    page = client.get(reverse("results:experiment", args=[made.pk])).content.decode()
    assert "1.500 GB/s" in page
    assert "Throughput" in page
    assert client.get(reverse("results:trial", args=[trial.pk])).status_code == 200
    assert b"speed,1500000000.0,B/s" in b"".join(client.get(reverse("results:csv", args=[made.pk])))
    assert client.get(reverse("results:trial_list", args=[made.campaign_id])).status_code == 200
