"""Whatever is made from a campaign that only its maker sees is seen by its maker only, whichever service makes it."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.campaigns import queries, runnable, services
from apps.campaigns.models import Campaign
from apps.campaigns.services import launches
from apps.testbeds.models import Node
from apps.tuning import proposals
from apps.tuning.models import Finding
from tests import factories as people
from tests.tuning.carrying import draft, store, verify
from tests.tuning.conftest import swept  # noqa: F401  (a fixture)

APPS = Path(__file__).parents[2] / "apps"
V = Campaign.Visibility
PROPOSAL = {"tool": "ping", "roles": {"client": ["kisti01"], "target": ["pnu01"]}, "fixed": {"count": "5"}}
Way = Callable[[Campaign, Finding, Any], Campaign]


def rerun(campaign: Campaign, _finding: Finding, user: Any) -> Campaign:
    recipe = runnable.read_recipe(runnable.as_yaml(runnable.recipe_of(campaign)))
    return services.run_again(recipe=recipe, team=campaign.team, user=user, now=timezone.now(),
                              stand_ins=services.NodeStandIns(), original=campaign, launch=False)  # fmt: skip


def rerun_over_rest(campaign: Campaign, _finding: Finding, user: Any) -> Campaign:
    body = {"recipe": runnable.as_yaml(runnable.recipe_of(campaign)), "team": campaign.team.slug, "launch": False}
    answer = Client().post("/api/v1/campaigns/run/", body, "application/json", **people.bearer(user))
    return Campaign.objects.get(pk=answer.json()["id"])


def rerun_in_the_browser(campaign: Campaign, _finding: Finding, user: Any) -> Campaign:
    address, client = f"/c/{campaign.permanent_id}/run/", people.signed_in(user)
    form = client.get(address).context["form"]
    sent = {field.html_name: field.value() for field in form if field.html_name != "launch"}
    assert client.post(address, sent).status_code == 302
    return Campaign.objects.latest("pk")


def date_of_series(campaign: Campaign, _finding: Finding, _user: Any) -> Campaign:
    campaign.cron_timezone = "UTC"
    return launches._next_occurrence(campaign, timezone.now())


def decision(_campaign: Campaign, finding: Finding, user: Any) -> Campaign:
    finding.details["proposals"] = [PROPOSAL]
    return proposals.create_draft(finding=finding, user=user, key="p0", now=timezone.now())


# By the function that makes the campaign: the ways in which one is made there from another; none from nothing.
WAYS: dict[str, dict[str, Way]] = {
    "campaigns.services.copies.copy_campaign": {
        "clone": lambda campaign, _finding, user: services.clone_campaign(campaign=campaign, user=user),
        "date": date_of_series,
    },
    "campaigns.services.reruns.run_again": {
        "rerun": rerun, "over REST": rerun_over_rest, "in the browser": rerun_in_the_browser,
    },
    "tuning.services.verification._launch": {
        "verification": lambda _campaign, finding, user: verify(finding, user).campaign,
    },
    "tuning.proposals.draft_proposals": {"decision": decision},
    # What people write, templates, outputs, archives (by their own rule) and what papers say.
    "campaigns.services.campaigns.create_campaign": {},
    "campaigns.services.recipes.create_from_recipe": {},
    "campaigns.api.campaigns.perform_create": {},
    "campaigns.views.campaigns.perform_create": {},
    "archive.imports.store.store": {},
    "archive.campaigns.store.whole._begin": {},
    "tuning.published.storing._begin": {},
    # A campaign that is not kept: it stands for the one that is to be.
    "campaigns.services.compositions.__init__": {},
}  # fmt: skip


def makers() -> Iterator[str]:
    """Yield "module.function" of whatever makes a campaign."""
    for path in APPS.rglob("*.py"):
        text = path.read_text()
        if "Campaign" not in text or "migrations" in path.parts:
            continue
        module = ".".join(path.relative_to(APPS).with_suffix("").parts)
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef):
                calls = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
                if any(call in MAKING or call.endswith(".create_campaign") for call in calls):
                    yield f"{module}.{function.name}"


MAKING = {"Campaign", "Campaign.objects.create", "create_campaign"}


def test_every_maker_of_campaigns_is_known() -> None:
    assert set(makers()) == set(WAYS)


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:  # noqa: F811
    swept.trials.update(state="succeeded")
    services.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return store(swept, pair, draft())


@pytest.mark.parametrize("visibility", [V.PRIVATE, V.PUBLIC])
def test_what_is_made_is_seen_by_whom_it_should_be(finding: Finding, cast: SimpleNamespace, visibility: str) -> None:
    campaign = finding.campaign
    assert campaign.created_by == cast.oscar
    campaign.visibility = visibility
    campaign.redacted = False
    campaign.save()
    for ways in WAYS.values():
        for name, make in ways.items():
            made = make(campaign, finding, cast.oscar)
            seen = {person.username for person in (cast.alice, cast.oscar, cast.bob, cast.charlie)
                    if queries.sees_whole(made, person)}  # fmt: skip
            team, everybody = {"alice", "oscar", "bob"}, {"alice", "oscar", "bob", "charlie"}
            assert seen == ({"oscar"} if visibility == V.PRIVATE else everybody if name == "date" else team), name
