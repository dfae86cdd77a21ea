"""Every page that would make more than may be shows the reason, and names the setting; none breaks."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import transaction
from django.test import Client

from tests import limits
from tests.core.test_editing import definition, populated, shown, tool
from tests.factories import Cast, signed_in

__all__ = ["definition", "populated", "tool"]

pytestmark = pytest.mark.django_db
SETTINGS = re.compile(r"\b[A-Z_]+_PER_[A-Z]+\b")
# Of these a form here lacks what is chosen or sent (a file, a sweep, a report), or has none to be filled in; REST
# walks them (tests/rest/test_owned_limits.py), the rows themselves refuse all of them (test_owned_limits.py).
ELSEWHERE = {
    *("AGENTS_PER_TEAM", "CAMPAIGNS_PER_TEAM", "EDITIONS_PER_REPORT", "EXPERIMENTS_PER_CAMPAIGN"),
    *("MAPPINGS_PER_TEAM", "MEMBERS_PER_TEAM", "SCHEDULES_PER_TEAM", "TEAMS_PER_PERSON", "TOKENS_PER_PERSON"),
    *("TOOLS_PER_TEAM", "VERSIONS_PER_TOOL", "VIEWS_PER_TEAM", "SITE_PAIRS_PER_TEAM"),
}
# The other limits, each with the form that meets it.
MET = {
    "CLUSTERS_PER_TEAM": "testbeds:cluster_create",
    "DRAFTS_PER_TEAM": "campaigns:campaign_create",
    "FILE_SYSTEMS_PER_TEAM": "testbeds:filesystem_clone",
    "GRANTS_PER_NODE": "testbeds:node_grants",
    "LINKS_PER_TEAM": "testbeds:link_clone",
    "NODES_PER_TEAM": "testbeds:node_create",
    "NOTES_PER_CAMPAIGN": "campaigns:note_add",
    "REPORTS_PER_TEAM": "management:create",
    "SEARCHES_PER_TEAM": "archive:saved_create",
    "SITES_PER_TEAM": "testbeds:site_create",
    "SWITCHES_PER_TEAM": "testbeds:switch_create",
    "TESTBEDS_PER_TEAM": "testbeds:testbed_create",
}
# What a field that is left empty needs, by the end of its name.
FILLED = {"name": "new", "slug": "new", "text": "Quiet.", "title": "New", "mtu": "1500", "cron": "0 6 * * 1"}
FILLED |= {
    "rtt_s": "1 ms",
    "mount_path": "/new",
    "pattern": "net.ipv4.*",
    "names": "new[1-2]",
    "username": "x",
    "query": "q=x",
}


def _filled(populated: SimpleNamespace) -> dict[str, Any]:
    a, b = populated.site.pk, populated.other_site.pk
    return FILLED | {"testbed": populated.testbed.pk, "site": a, "site_a": b, "site_b": a}


def _sent(client: Client, forms: dict[str, Any], filled: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Return {form: (status, page)} of every form of every page, sent as it is shown with a name filled in."""
    found = {}
    for key, form in forms.items():
        fields = {
            name: filled.get(name.rpartition("-")[2], "") if values in ([""], []) else values
            for name, values in form.fields.items()
        }
        with transaction.atomic():
            answer = client.post(form.place, fields, follow=True)
            transaction.set_rollback(True)
        found[key] = (answer.status_code, answer.content.decode(errors="replace"))
    return found


def test_each_limit_is_said_on_the_page_where_it_is_met(
    populated: SimpleNamespace, cast: Cast, settings: Any
) -> None:
    client = signed_in(cast.alice)
    client.raise_request_exception = False
    forms, filled = shown(populated, client), _filled(populated)
    unlimited = settings.OWNED_LIMITS
    limits.bound(settings, -1)
    answers = _sent(client, forms, filled)
    assert answers
    broken = {key: forms[key] for key, (status, _text) in answers.items() if status >= 500}
    # The one edition of this world has no document to show: what breaks by that breaks without limits, too.
    settings.OWNED_LIMITS = unlimited
    assert {key for key, (status, _text) in _sent(client, broken, filled).items() if status < 500} == set()
    named = {(key.partition(": ")[0], name) for key, (_, text) in answers.items() for name in SETTINGS.findall(text)}
    assert {name for _form, name in named} <= set(MET)
    shown_here = {key.partition(": ")[0] for key in forms}
    assert {(form, name) for name, form in MET.items() if form in shown_here} <= named


def test_of_each_limit_it_is_known_who_meets_it() -> None:
    assert set(MET) | ELSEWHERE == set(configured.OWNED_LIMITS)
    assert not set(MET) & ELSEWHERE
