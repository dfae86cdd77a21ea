"""What is asked for by a word that somebody sends is looked up within what they may see: every place that asks.

A word that is found in any team's rows tells its asker that it is there, answer by answer (an oracle).
"""

import ast
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import models

from apps.accounts.models import Team
from apps.config.settings.base import BASE_DIR
from tests.test_architecture import SOURCES, tree_of

# What a person or a program sends, and what may find a row of somebody else's by it.
WORDS = {"address", "name", "slug", "host", "username", "email", "permanent_id", "prefix", "path", "text", "title"}
# A lookup that leads to rows of which the caller has one already: those of one team, node, campaign, entry.
WITHIN = ("team", "node", "campaign", "user", "person", "entry", "owner", "experiment", "job", "site", "testbed")
READERS = ("filter", "get", "exclude")
# Functions that leave what somebody may see of the rows that they are given.
SCOPING = {"visible", "readable", "in_sight"}


def owned() -> set[str]:
    """Return the names of the models whose rows belong to teams, at whatever distance."""
    models_of_ours = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
    found = {Team.__name__}
    while more := {
        model.__name__
        for model in models_of_ours
        if model.__name__ not in found and any(leads_to(field, found) for field in model._meta.fields)
    }:
        found |= more
    return found


def leads_to(field: models.Field, names: set[str]) -> bool:
    return isinstance(field, models.ForeignKey) and getattr(field.related_model, "__name__", "") in names


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def lookups(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield "Model.word" of each lookup by a word in the rows of all teams."""
    scoped = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and name_of(node.func) in SCOPING
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or id(node) in scoped:
            continue
        if node.func.attr not in READERS:
            continue
        chain = ast.unparse(node)
        model = chain.split(".objects.")[0].split(".")[-1] if ".objects." in ast.unparse(node.func) else ""
        if model not in names:
            continue
        asked = {keyword.arg or "" for keyword in node.keywords}
        words = {word for name in asked for word in name.split("__") if word in WORDS}
        if words and not any(part in name.split("__") for name in asked for part in WITHIN):
            yield f"{model}.{min(words)}"


OPERATOR = "A command of whoever has the machine."
TAKEN = "Names are one service-wide, so it is told anyway that one is taken."
SCOPED_NEXT = (
    "What is found is asked with `visible` or `readable` at once, and is as unknown where that finds nothing."
)
OWN = "The row that a secret text names is the asker's own: its digest is compared next."
# {"file: Model.word": why nothing is told of what somebody else has}.
REASONS = {
    "apps/testbeds/management/commands/inventory.py: Team.slug": OPERATOR,
    "apps/tuning/management/commands/findings.py: Campaign.name": OPERATOR,
    "apps/tuning/management/commands/findings.py: Team.slug": OPERATOR,
    "apps/results/management/commands/reread.py: Campaign.permanent_id": OPERATOR,
    "apps/results/management/commands/reread.py: Team.slug": OPERATOR,
    "apps/accounts/management/commands/create_token.py: User.username": OPERATOR,
    "apps/accounts/services.py: User.username": OPERATOR,
    "apps/accounts/services.py: Team.name": OPERATOR,
    "apps/archive/management/commands/send_outputs.py: Team.slug": OPERATOR,
    "apps/archive/management/commands/send_outputs.py: User.username": OPERATOR,
    "apps/archive/management/commands/import_campaign.py: Team.slug": OPERATOR,
    "apps/archive/management/commands/import_campaign.py: User.username": OPERATOR,
    "apps/agents/queries.py: Agent.prefix": OWN,
    "apps/agents/services/enrolment.py: EnrolmentToken.prefix": OWN,
    "apps/agents/services/enrolment.py: Agent.prefix": OWN,
    "apps/accounts/authentication.py: ApiToken.prefix": OWN,
    "apps/accounts/services.py: Team.slug": TAKEN,
    "apps/reports/api.py: Campaign.permanent_id": SCOPED_NEXT,
    "apps/archive/landing/api.py: Campaign.permanent_id": SCOPED_NEXT,
    "apps/campaigns/references.py: Campaign.permanent_id": SCOPED_NEXT,
    "apps/toolbox/queries.py: ToolVersion.slug": "With a team it is narrowed to it next; `get_tool_of` asks for the"
    " user's right, what an archive says is asked with its team (below), and stored results name tools of their own.",
    "apps/accounts/consent.py: User.email": "It is narrowed to a team's members.",
    "apps/reports/files/services.py: Rendering.name": "It asks which of the files on the disk have rows.",
    "apps/archive/search/queries.py: SearchValue.name": "It narrows entries, which are those that the user may see.",
    "apps/archive/search/queries.py: SearchMetric.name": "It narrows entries, which are those that the user may see.",
    "apps/archive/campaigns/store/concluded.py: Campaign.permanent_id": "Whether an id is free; nothing is told.",
    "apps/archive/campaigns/store/concluded.py: Edition.permanent_id": "Whether an id is free; nothing is told.",
    "apps/archive/campaigns/store/whole.py: Campaign.permanent_id": "`refuse_known` tells of what the user sees.",
    "apps/archive/campaigns/store/whole.py: Tombstone.permanent_id": "Only administrators keep ids, and are told.",
    "apps/campaigns/queries/visibility.py: Tombstone.permanent_id": "It leaves out what is there again.",
    "apps/campaigns/services/offers.py: Team.slug": "Of an offer that was made to that team.",
    "apps/campaigns/queries/offers.py: Team.slug": "Of an offer that was made to that team.",
}


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_every_lookup_by_a_word_is_within_a_team_or_says_why_not() -> None:
    names = owned()
    assert {"NodeAddress", "Node", "Campaign", "Job", "User"} <= names
    found = {
        f"{path.relative_to(BASE_DIR)}: {lookup}"
        for path in SOURCES
        if path.relative_to(BASE_DIR).parts[0] in ("apps", "workers")
        for lookup in lookups(tree_of(path), names)
    }
    assert sorted(found) == sorted(REASONS)


def test_a_tool_that_an_archive_names_is_looked_for_in_the_team_that_takes_it() -> None:
    calls = [
        (path.name, node)
        for path in (BASE_DIR / "apps" / "archive" / "campaigns").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("get_tool")
    ]
    assert calls
    assert [f"{name}: {ast.unparse(node)}" for name, node in calls if len(node.args) < 2] == []


def test_the_rule_finds_what_it_should() -> None:
    names = {"NodeAddress", "Campaign"}
    for text in ("NodeAddress.objects.filter(address__in=hosts)", "models.Campaign.objects.get(name=a)"):
        assert [*lookups(ast.parse(text), names)], text
    for text in (
        "NodeAddress.objects.filter(node__team=team, address=a)",
        "visible(Campaign.objects.filter(name=a), user)",
        "Campaign.objects.filter(pk=a)",
        "Other.objects.filter(name=a)",
    ):
        assert not [*lookups(ast.parse(text), names)], text
