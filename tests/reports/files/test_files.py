"""Files are asked for, watched and fetched on pages and over REST, by those who may see what they hold."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.core import queue
from apps.reports import services as reports
from apps.reports.files import services
from apps.reports.models import Edition, Rendering, Report
from tests import factories
from tests.reports import documents
from workers import tasks

State = Rendering.State


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no worker but the test."""
    monkeypatch.setattr(queue, "send", lambda *_given: None)


@pytest.fixture
def draft(cast: SimpleNamespace, edition: Edition, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Return a campaign's report, of which everybody sees something else."""
    campaign = Campaign.objects.create(team=cast.team, name="Windows", created_by=cast.oscar)
    report = reports.begin_report(campaign=campaign, user=cast.oscar, language="en")
    monkeypatch.setattr(
        "apps.reports.drafts.build",
        lambda _report, user: documents.document(user.username),
    )
    return report


def ready(edition: Edition) -> Rendering:
    services.request_rendering(report=edition.report, edition=edition, name="json", user=None, now=timezone.now())
    tasks.render()
    return Rendering.objects.get()


def page(client: Client, address: str, **posted: str) -> str:
    answer = client.post(address, posted, HTTP_HX_REQUEST="true") if posted else client.get(address)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_an_editions_file_is_asked_for_watched_and_fetched(
    client: Client, cast: SimpleNamespace, edition: Edition
) -> None:
    client.force_login(cast.bob)
    address = reverse("renderings:edition", args=[edition.permanent_id])
    assert page(client, address).count("Make") == 5
    waiting = page(client, address, format="json")
    assert "waits for its turn" in waiting
    assert 'hx-trigger="every 2s"' in waiting
    made = Rendering.objects.get()
    assert client.get(made.get_absolute_url()).status_code == 404
    Rendering.objects.update(state=State.WORKING, progress=40)
    assert 'aria-valuenow="40"' in page(client, address)
    Rendering.objects.update(state=State.WAITING)
    tasks.render()
    done = page(client, address)
    assert "hx-trigger" not in done
    assert made.get_absolute_url() in done
    fetched = client.get(made.get_absolute_url())
    assert fetched["Content-Type"] == "application/json"
    name = f"windows-between-kisti-and-{edition.permanent_id}-1.json"
    assert fetched["Content-Disposition"] == f'attachment; filename="{name}"'
    assert b"".join(fetched.streaming_content).decode() == edition.canonical


def test_without_script_the_form_leads_back_to_the_editions_page(
    client: Client, cast: SimpleNamespace, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Edition, "get_absolute_url", lambda _edition: "/the/edition/")
    client.force_login(cast.bob)
    address = reverse("renderings:edition", args=[edition.permanent_id])
    assert client.post(address, {"format": "pdf"}).headers["Location"] == "/the/edition/"
    assert client.post(address, {"format": "exe"}).status_code == 404


def test_a_failure_says_why_and_offers_another_attempt(
    client: Client, cast: SimpleNamespace, edition: Edition
) -> None:
    client.force_login(cast.bob)
    address = reverse("renderings:edition", args=[edition.permanent_id])
    page(client, address, format="pdf")
    Rendering.objects.update(state=State.FAILED, error={"msgid": "It is <too> large.", "params": {}})
    html = page(client, address)
    assert "It is &lt;too&gt; large." in html
    assert "Try again" in html


def test_strangers_and_those_who_are_not_signed_in_find_nothing(
    client: Client, cast: SimpleNamespace, edition: Edition
) -> None:
    rendering = ready(edition)
    addresses = [reverse("renderings:edition", args=[edition.permanent_id]), rendering.get_absolute_url()]
    assert [client.get(address).status_code for address in addresses] == [404, 404]
    client.force_login(cast.charlie)
    assert [client.get(address).status_code for address in addresses] == [404, 404]
    assert client.post(addresses[0], {"format": "json"}).status_code == 404


def test_what_is_public_is_fetched_without_signing_in_but_made_for_people_only(
    client: Client, cast: SimpleNamespace, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.reports.queries.editions_for", lambda _user: Edition.objects.all())
    services.request_rendering(report=edition.report, edition=edition, name="json", user=None, now=timezone.now())
    tasks.render()
    tasks.render()
    rendering = Rendering.objects.get(for_others=True)
    address = reverse("renderings:edition", args=[edition.permanent_id])
    html = page(client, address)
    assert rendering.get_absolute_url() in html
    assert "Make" not in html
    assert "Sign in" in html
    assert b"".join(client.get(rendering.get_absolute_url()).streaming_content).decode() == edition.canonical
    assert client.post(address, {"format": "pdf"}).headers["Location"].startswith("/accounts/")
    assert Rendering.objects.count() == 2


def test_a_draft_is_rendered_as_who_asked_sees_it_and_for_nobody_else(
    client: Client, cast: SimpleNamespace, draft: Report
) -> None:
    address = reverse("renderings:draft", args=[draft.pk])
    for person in (cast.alice, cast.bob):
        client.force_login(person)
        assert "waits" in page(client, address, format="json")
        tasks.render()
    alices, bobs = Rendering.objects.order_by("pk")
    assert json.loads(alices.path.read_text())["language"] == "alice"
    assert json.loads(bobs.path.read_text())["language"] == "bob"
    assert client.get(bobs.get_absolute_url()).status_code == 200
    assert client.get(alices.get_absolute_url()).status_code == 404
    assert "Make anew" in page(client, address)
    client.force_login(cast.charlie)
    assert client.get(address).status_code == 404


def test_a_draft_is_made_anew_each_time_and_the_old_file_goes(
    client: Client, cast: SimpleNamespace, draft: Report
) -> None:
    client.force_login(cast.bob)
    address = reverse("renderings:draft", args=[draft.pk])
    page(client, address, format="json")
    tasks.render()
    first = Rendering.objects.get()
    page(client, address, format="json")
    tasks.render()
    second = Rendering.objects.get()
    assert second.pk == first.pk
    assert second.path != first.path
    assert second.path.exists()
    assert not first.path.exists()


def rest(client: Client, person: Any, address: str, **posted: object) -> Any:
    headers = factories.bearer(person)
    if posted:
        return client.post(f"/api/v1/{address}", json.dumps(posted), content_type="application/json", **headers)
    return client.get(f"/api/v1/{address}", **headers)


def test_rest_asks_tells_and_hands_out(client: Client, cast: SimpleNamespace, edition: Edition) -> None:
    asked = rest(client, cast.bob, "renderings/", edition=edition.permanent_id, format="json")
    assert asked.status_code == 201
    assert (asked.json()["state"], asked.json()["edition"]) == ("waiting", edition.permanent_id)
    one = f"renderings/{asked.json()['id']}/"
    assert rest(client, cast.bob, f"{one}content/").status_code == 404
    tasks.render()
    assert rest(client, cast.bob, one).json()["checksum"] == edition.checksum
    assert b"".join(rest(client, cast.bob, f"{one}content/").streaming_content).decode() == edition.canonical
    assert rest(client, cast.bob, "renderings/").json()["count"] == 1
    assert rest(client, cast.charlie, "renderings/").json()["count"] == 0
    assert rest(client, cast.charlie, one).status_code == 404


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({"format": "json"}, "edition"),
        ({"format": "docx", "edition": "E"}, "format"),
        ({"format": "json", "edition": "r-none"}, "edition"),
        ({"format": "json", "report": 10**9}, "report"),
    ],
)
def test_rest_names_what_is_wrong(
    client: Client, cast: SimpleNamespace, edition: Edition, posted: dict[str, object], field: str
) -> None:
    given = {name: edition.permanent_id if value == "E" else value for name, value in posted.items()}
    refused = rest(client, cast.bob, "renderings/", **given)
    assert refused.status_code == 400
    assert list(refused.json()["fields"]) == [field]
    stranger = rest(client, cast.charlie, "renderings/", edition=edition.permanent_id, format="json")
    assert stranger.json()["fields"].keys() == {"edition"}


def test_a_list_of_many_files_takes_few_queries(
    client: Client, cast: SimpleNamespace, edition: Edition, django_assert_max_num_queries: Any
) -> None:
    for name in ("json", "zip", "pdf"):
        Rendering.objects.create(report=edition.report, edition=edition, format=name, requested_at=timezone.now())
    headers = factories.bearer(cast.bob)
    client.force_login(cast.bob)
    with django_assert_max_num_queries(8):
        client.get("/api/v1/renderings/", **headers)
    # Three of them for each that waits, of at most one a format: how many files are before it.
    with django_assert_max_num_queries(14):
        client.get(reverse("renderings:edition", args=[edition.permanent_id]))
