"""Every page refuses a write by who may not: 403 for a viewer, 404 for a stranger, and nothing is changed."""

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts.models import Invitation, Membership
from apps.agents.models import AgentInstance, FactSnapshot
from apps.archive.imports.models import ColumnMapping, Import
from apps.archive.incoming.models import IncomingArchive
from apps.archive.search.models import SavedSearch
from apps.campaigns.models import Note
from apps.comparison.models import SavedView
from apps.reports.models import Edition, Rendering, Report
from apps.reports.schedules.models import Schedule
from apps.testbeds.models import Link, Node, SettingGrant
from apps.tuning.models import Finding
from tests.agents import factories as agents
from tests.campaigns import factories as make
from tests.rotation import part_of
from tests.testbeds import factories as inventory
from tests.toolbox.conftest import definition, tool

__all__ = ["definition", "tool"]

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
# One's own: signing in and out, preferences, a team or a token of one's own.
OWN = {
    "accounts:login", "accounts:logout", "accounts:password", "accounts:profile", "accounts:language",
    "accounts:theme", "accounts:team_create", "accounts:token_create", "set_language",
}  # fmt: skip
# They are posted to for the length of what is asked, and keep nothing: a figure of what the page shows.
READING = {"figures:draw"}
# Shows what a definition would do, and keeps nothing.
READING |= {"toolbox:tool_preview"}
# Whoever may write in a team of their own is told that the team which they name is none of theirs.
REFUSED, WRONG_TEAM = {403, 404, 405}, 422
CHOOSES_A_TEAM = {"exports:receive", "imports:import_create", "published:import", "tuning:workload_draft"}
# No object of these is made here: what jobs printed, what was measured, files that are done, another's token, and
# what a link in a mail is about (`tests/accounts/test_mail_pages.py`).
NOT_MADE = {
    "accounts:mail_confirm", "accounts:mail_stop",
    "agents:job_output", "agents:job_file", "results:job_telemetry", "results:run_series", "reference",
    "history:detail", "history:csv", "history:json", "renderings:file", "accounts:token_revoke",
}  # fmt: skip


def pages(
    resolver: URLResolver | None = None, route: str = "", names: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield the name of every page and its pattern, without REST and the administrator's."""
    for item in (resolver or get_resolver()).url_patterns:
        whole = route + str(item.pattern)
        if isinstance(item, URLResolver) and not whole.startswith(("api/", "admin/")):
            yield from pages(item, whole, (*names, *([item.namespace] if item.namespace else [])))
        elif isinstance(item, URLPattern):
            yield ":".join((*names, item.name or "")), (whole, item.pattern.converters)


PAGES = dict(pages())


@pytest.fixture
def world(cast: SimpleNamespace, pair: list[Node], tool: Any) -> SimpleNamespace:
    """Return one of everything that a page may be about, all of it the team's."""
    team, oscar = cast.team, cast.oscar
    draft = make.campaign(cast)
    experiment = make.experiment(draft, *pair)
    going = make.launched(cast, *make.nodes(team, "busy1", "busy2"), name="Going")
    report = Report.objects.create(team=team, campaign=going, language="en", created_by=oscar)
    a, b = pair[0].testbed.site, inventory.site(team)
    agent, _text = agents.agent(pair[0])
    theirs = make.campaign(SimpleNamespace(team=cast.other_team, oscar=cast.charlie))
    return SimpleNamespace(
        campaign=draft, going=going, experiment=experiment, trial=going.trials.first(),
        note=Note.objects.create(campaign=draft, created_by=oscar, text="x"),
        imported=Import.objects.create(team=team, name="x", kind="outputs", created_by=oscar),
        mapping=ColumnMapping.objects.create(team=team, name="x", tool="ping", columns={}),
        view=SavedView.objects.create(team=team, name="x", query="", created_by=oscar),
        search=SavedSearch.objects.create(team=team, name="x", query="", created_by=oscar),
        report=report,
        edition=Edition.objects.create(
            report=report, number=1, title="x", language="en", canonical="{}", checksum="0" * 64, created_at=NOW
        ),
        management=Report.objects.create(team=team, kind="management", language="en", created_by=oscar),
        facts=FactSnapshot.objects.create(node=pair[0], digest="1", facts={}),
        rendering=Rendering.objects.create(report=report, format="pdf", requested_at=NOW),
        schedule=Schedule.objects.create(team=team, name="x", language="en", cron="0 6 * * 1", report=report),
        archive=IncomingArchive.objects.create(team=team, name="x", size=1, created_by=oscar, of_campaign="0"),
        finding=Finding.objects.create(
            team=team, campaign=going, rule="x", title={"msgid": "x", "params": {}}, details={}, confidence=0.9
        ),
        history=experiment, node=pair[0], testbed=pair[0].testbed, site=a, other_site=b, link=Link.objects.get(),
        sitepair=inventory.site_pair(a, b, 0.01), cluster=inventory.cluster(team, "c", *pair),
        switch=inventory.switch(team, "s"), filesystem=inventory.file_system(team, "f"),
        grant=SettingGrant.objects.create(node=pair[0], team=cast.other_team, pattern="net.*"),
        tool=tool, offered=Invitation.objects.create(team=cast.other_team, username="alice", invited_by=cast.charlie),
        offer=make.share(theirs, team, "offered"),
        invitation=Invitation.objects.create(team=team, username="nobody"),
        member=Membership.objects.get(team=team, user=cast.alice), agent=agent,
        instance=AgentInstance.objects.create(agent=agent, key=uuid.uuid4(), host="copy"),
    )  # fmt: skip


# The object of a page by the beginning of its address, the longest that fits.
ABOUT = {
    "campaigns/<int:pk>/launch": "campaign", "campaigns/<int:pk>": "going", "campaigns/notes/": "note",
    "campaigns/experiments/": "experiment", "results/experiments/": "experiment", "results/trials/": "trial",
    "results/campaigns/": "going",
    "results/runs/": "trial", "campaigns/<int:pk>/edit": "campaign", "campaigns/<int:pk>/delete": "campaign",
    "history/": "history", "compare/views/": "view", "archive/searches/": "search", "archive/already/": "campaign",
    "imports/": "imported", "imports/mappings/": "mapping", "reports/<int:pk>": "report",
    "reports/campaigns/": "going",
    "agents/facts/": "facts", "reports/management/": "management",
    "reports/schedules/": "schedule", "reports/files/": "rendering",
    "reports/files/drafts/": "report", "exports/campaigns/": "going", "exports/archives/": "archive",
    "findings/": "finding", "findings/predict/": "experiment", "findings/campaigns/": "going", "tools/": "tool",
    "accounts/teams/": "member", "accounts/teams/<slug:slug>/invitations/": "invitation",
    "accounts/invitations/": "offered", "campaigns/offers/": "offer",
    "accounts/tokens/": "member", "inventory/nodes/": "node",
    "inventory/testbeds/": "testbed", "inventory/sites/": "site", "inventory/clusters/": "cluster",
    "inventory/switches/": "switch", "inventory/links/": "link", "inventory/rtts/": "sitepair",
    "inventory/file-systems/": "filesystem", "inventory/settings/": "grant", "agents/": "node",
}  # fmt: skip


def address_of(name: str, world: SimpleNamespace) -> str:
    """Return the address of a page about the team's own things."""
    route, converters = PAGES[name]
    subject = max((start for start in ABOUT if route.startswith(start)), key=len, default="")
    values: dict[str, Any] = {
        "slug": "grid", "permanent_id": world.going.permanent_id, "position": 0, "number": 1, "ending": "csv",
        "tool": "ping", "ref": "x", "a": world.site.pk, "b": world.other_site.pk,
        "key": world.instance.key,
        "pk": getattr(world, ABOUT[subject]).pk if subject else 0,
    }  # fmt: skip
    if "reports/" in route or "reference" in name:
        values["permanent_id"] = world.edition.permanent_id
    if name == "campaigns:recipe":
        values["slug"] = "window-sweep"
    for part in converters:
        route = re.sub(rf"<(?:[a-z]+:)?{part}>", str(values[part]), route)
    # The addresses of what jobs printed are patterns.
    for part, value in {"pk": uuid.uuid4(), "stream": "stdout", "name": "x"}.items():
        route = re.sub(rf"\(\?P<{part}>[^)]*\)", str(value), route)
    route = route.replace("^", "").replace("$", "")
    return "/" + route


def everything() -> dict[str, str]:
    """Return each table's digest of all its rows, but for what signing in and reading leave."""
    passing = {"session", "accessattempt", "accesslog", "accessfailurelog", "user"}
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.model_name not in passing]
    digests = (
        f"SELECT '{model._meta.label}', md5(string_agg(t::text, chr(10) ORDER BY t.{model._meta.pk.column})) "
        f'FROM "{model._meta.db_table}" t'
        for model in models
    )
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(digests))
        return dict(cursor.fetchall())


@pytest.mark.parametrize("person", ["bob", "charlie"])
def test_who_may_not_write_is_refused_on_every_page_and_changes_nothing(
    world: SimpleNamespace, cast: SimpleNamespace, person: str
) -> None:
    client = Client()
    client.force_login(getattr(cast, person))
    before = everything()
    answers = {}
    for name in part_of(sorted(PAGES.keys() - OWN - READING)):
        address = address_of(name, world)
        answers[name] = client.post(f"{address}?team=grid", {"team": "grid"}, follow=True).status_code
    chooses = CHOOSES_A_TEAM if person == "charlie" else set()
    wrong = {
        name: status
        for name, status in answers.items()
        if status not in REFUSED and not (status == WRONG_TEAM and name in chooses)
    }
    assert wrong == {}
    after = everything()
    assert [label for label in before if before[label] != after[label]] == []


def test_the_pages_that_are_tried_are_there_for_who_may(world: SimpleNamespace, cast: SimpleNamespace) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)
    missing = {name for name in part_of(sorted(PAGES)) if client.get(address_of(name, world)).status_code == 404}
    assert missing <= NOT_MADE
