"""What a team calls the parameters, metrics and units of its tool tells strangers no name either."""

import csv
import html
import json
import re
from types import SimpleNamespace

import pytest
import yaml
from django.test import Client
from django.utils import timezone, translation

from apps.agents.models import Job
from apps.archive.landing.redaction import Hidden
from apps.bench.toolkit import Output
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Run
from apps.testbeds.models import Site
from apps.toolbox import services
from tests.archive.landing.answers import public_answers
from tests.campaigns import factories as make
from tests.workers import factories as agents
from workers import carry_out

NAMES = ("zorbclient", "wombatbed", "glorpnet")
DEFINITION = {
    "name": "glorpnet speed",
    "program": "ping",
    "arguments": ["{wombatbed}"],
    "parameters": [
        {"name": "wombatbed", "kind": "integer", "default": 1},
        {"name": "wombat_bed", "kind": "integer", "default": 1},
        {"name": "zorbclient_mode", "label": "of Zorbclient", "kind": "text", "default": "x"},
        {"name": "plain", "kind": "integer", "default": 1},
    ],
    "metrics": [{"name": "glorpnet_rate", "unit": "zorbclients/s", "where": r"rate: (\d+)"}],
}


@pytest.fixture
def tooled(cast: SimpleNamespace) -> Campaign:
    """Return a campaign that a tool of the team measured, public without names."""
    (node,) = make.nodes(cast.team, "zorbclient")
    agents.enrol(node)
    Site.objects.create(team=cast.team, name="wombat bed")
    Site.objects.create(team=cast.team, name="Wombatbed", place="Glorpnet")
    services.create_tool(team=cast.team, user=cast.alice, slug="zorbclient-bench", definition=DEFINITION)
    draft = make.campaign(cast)
    campaigns.create_experiment(
        campaign=draft, user=cast.oscar, name="sweep", tool="zorbclient-bench.v1", roles=make.players(node=node),
        fixed={"zorbclient_mode": "wombatbed", "plain": "1"}, repetitions=1, context=False,
        zips=[["wombatbed", "wombat_bed"]],
        factors=[{"name": "wombatbed", "expression": "1, 2, 3"}, {"name": "wombat_bed", "expression": "2, 4, 6"}],
        exclusions=["wombatbed > 2 and wombat_bed > plain"],
    )  # fmt: skip
    campaigns.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    carry_out.schedule()
    while run := Run.objects.filter(state__in=Run.OPEN_STATES).first():
        printed = Output("node", "measure", "north", ("ping",), b"rate: 5\n", b"", 0)
        agents.report(agents.job_of(run, "node"), Job.State.ENDED, printed)
        carry_out.advance(run.pk)
        carry_out.schedule()
    campaigns.finish_campaigns(now=timezone.now())
    draft.refresh_from_db()
    draft.visibility, draft.licence = Campaign.Visibility.PUBLIC, "CC-BY-4.0"
    draft.save()
    return draft


@pytest.mark.parametrize("language", ["en", "ko"])
def test_keys_and_units_of_a_teams_tool_hide_names_and_are_the_same_everywhere(
    client: Client, tooled: Campaign, cast: SimpleNamespace, language: str
) -> None:
    client.cookies.load({"django_language": language})
    with translation.override(language):
        answers = public_answers(client, tooled)
    for address, answer in answers.items():
        told = html.unescape(answer).casefold()
        assert not [name for name in (*NAMES, "wombat_bed", "wombat bed") if name in told], address
    at = f"/c/{tooled.permanent_id}/"
    recipe = yaml.safe_load(answers[f"{at}recipe.yaml"].partition("\n")[2])
    (experiment,) = recipe["experiments"]
    first, second = (factor["name"] for factor in experiment["factors"])
    assert first != second
    assert experiment["zips"] == [[first, second]]
    assert experiment["exclusions"] == [f"{first} > 2 and {second} > plain"]
    rows = list(csv.DictReader(answers[f"{at}experiments/0/samples.csv"].partition("\n")[2].splitlines()))
    assert rows and {first, second, "plain", *experiment["fixed"]} < set(rows[0])
    assert [int(row[second]) for row in rows] == [2 * int(row[first]) for row in rows]
    rest = json.loads(answers[f"/api/v1/permanent-ids/{tooled.permanent_id}/"].partition("\n")[2])
    assert yaml.safe_load(rest["recipe"]) == recipe
    (chart,) = re.findall(r'data-chart="([^"]*)"', answers[at])
    drawn = json.loads(html.unescape(chart))
    assert {drawn["x"]["name"], drawn["metric"]["name"]} <= {first, second, rows[0]["metric"]}
    assert drawn["metric"]["unit"] == rows[0]["unit"]


def test_its_team_reads_the_keys(client: Client, tooled: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    answers = public_answers(client, tooled)
    assert "wombat_bed" in answers[f"/c/{tooled.permanent_id}/recipe.yaml"]
    head = answers[f"/c/{tooled.permanent_id}/experiments/0/samples.csv"].splitlines()[1]
    assert "wombatbed,wombat_bed,zorbclient_mode,plain" in head


def test_a_key_without_a_name_stays(cast: SimpleNamespace) -> None:
    Site.objects.create(team=cast.team, name="Wombatbed")
    with translation.override("en"):
        shown = Hidden(cast.team.pk).keys(["streams", "wombatbed", "wombat_bed", "wombatbeds"])
    assert shown == {
        "streams": "streams", "wombatbed": "site 1", "wombat_bed": "wombat_bed", "wombatbeds": "site 1s",
    }  # fmt: skip
