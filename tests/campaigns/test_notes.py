"""Tags and notes: who writes them, what they become, and what is said of wrong ones."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign, Note
from apps.campaigns.queries.notes import tags_of
from tests import factories
from tests.campaigns import factories as make


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a draft with a note of Oscar's."""
    draft = make.campaign(cast)
    Note.objects.create(campaign=draft, text="The line was busy.", created_by=cast.oscar)
    return draft


def page(client: Client, campaign: Campaign) -> str:
    answer = client.get(reverse("campaigns:notes", args=[campaign.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_operators_give_tags_that_become_short_words(
    client: Client, cast: SimpleNamespace, campaign: Campaign
) -> None:
    address = reverse("campaigns:tags", args=[campaign.pk])
    client.force_login(cast.oscar)
    before = campaign.updated_at
    shown = client.post(address, {"tags": " KREONET, night run,,kreonet, 야간 "}).content.decode()
    campaign.refresh_from_db()
    assert campaign.tags == ["kreonet", "night-run", "야간"]
    assert campaign.updated_at > before
    assert "?tag=night-run" in shown
    assert tags_of(cast.team, cast.oscar) == ["kreonet", "night-run", "야간"]
    shown = client.post(address, {"tags": "x" * 51}).content.decode()
    assert "too long for a tag" in shown
    assert 'value="' + "x" * 51 in shown
    assert "20 tags at most" in client.post(address, {"tags": ",".join(map(str, range(21)))}).content.decode()
    campaign.refresh_from_db()
    assert campaign.tags == ["kreonet", "night-run", "야간"]
    client.post(address, {"tags": ""})
    campaign.refresh_from_db()
    assert campaign.tags == []


def test_who_wrote_a_note_and_managers_change_it(client: Client, cast: SimpleNamespace, campaign: Campaign) -> None:
    note = campaign.notes.get()
    change, delete = (reverse(f"campaigns:note_{name}", args=[note.pk]) for name in ("change", "delete"))
    client.force_login(cast.oscar)
    assert change in page(client, campaign)
    assert "A note needs words." in client.post(change, {"text": " \0 "}).content.decode()
    client.post(change, {"text": "The line was <b>very</b> busy."})
    assert "&lt;b&gt;very&lt;/b&gt;" in page(client, campaign)
    client.post(reverse("campaigns:note_add", args=[campaign.pk]), {"text": "By day, too."})
    Note.objects.filter(text="By day, too.").update(created_by=cast.alice)
    others = campaign.notes.get(text="By day, too.")
    assert client.post(reverse("campaigns:note_delete", args=[others.pk])).status_code == 403
    client.force_login(cast.alice)
    client.post(delete)
    assert [kept.text for kept in campaign.notes.all()] == ["By day, too."]


def test_viewers_read_and_strangers_find_nothing(client: Client, cast: SimpleNamespace, campaign: Campaign) -> None:
    note = campaign.notes.get()
    writes = [
        reverse("campaigns:tags", args=[campaign.pk]),
        reverse("campaigns:note_add", args=[campaign.pk]),
        reverse("campaigns:note_change", args=[note.pk]),
        reverse("campaigns:note_delete", args=[note.pk]),
    ]
    read = reverse("campaigns:notes", args=[campaign.pk])
    assert {client.get(read).status_code, *(client.post(address).status_code for address in writes)} == {302}
    client.force_login(cast.charlie)
    assert {client.get(read).status_code, *(client.post(address).status_code for address in writes)} == {404}
    client.force_login(cast.bob)
    assert {client.post(address, {"tags": "a", "text": "b"}).status_code for address in writes} == {403}
    shown = page(client, campaign)
    assert "The line was busy." in shown
    assert "<form" not in shown


def test_tags_and_notes_go_over_rest(client: Client, cast: SimpleNamespace, campaign: Campaign) -> None:
    writer, reader = factories.bearer(cast.oscar), factories.bearer(cast.bob)
    stranger = factories.bearer(cast.charlie)

    def send(method: str, address: str, body: Any, who: dict[str, str]) -> Any:
        return client.generic(method, address, body, content_type="application/json", **who)

    tags = f"/api/v1/campaigns/{campaign.pk}/tags/"
    assert send("PUT", tags, '{"tags": ["Night"]}', reader).status_code == 403
    assert send("PUT", tags, '{"tags": ["Night", "a,b"]}', writer).json()["fields"]["tags"]
    assert send("PUT", tags, '{"tags": ["Night"]}', writer).json() == {"tags": ["night"]}
    assert client.get(tags, **reader).json() == {"tags": ["night"]}
    assert client.get(tags, **stranger).status_code == 404
    assert client.get(f"/api/v1/campaigns/{campaign.pk}/", **reader).json()["tags"] == ["night"]
    body = f'{{"campaign": {campaign.pk}, "text": "Seen."}}'
    assert send("POST", "/api/v1/notes/", body, stranger).status_code == 400
    assert send("POST", "/api/v1/notes/", body, reader).status_code == 403
    made = send("POST", "/api/v1/notes/", body, writer)
    assert (made.status_code, made.json()["created_by"]) == (201, "oscar")
    one = f"/api/v1/notes/{made.json()['id']}/"
    assert send("PATCH", one, '{"text": ""}', writer).status_code == 400
    assert send("PATCH", one, '{"text": "Seen twice."}', writer).json()["text"] == "Seen twice."
    listed = client.get(f"/api/v1/notes/?campaign={campaign.pk}&search=twice", **reader).json()
    assert [note["text"] for note in listed["results"]] == ["Seen twice."]
    assert client.get("/api/v1/notes/", **stranger).json()["count"] == 0
    assert client.delete(one, **writer).status_code == 204


def test_a_page_of_notes_has_the_latest_and_leads_to_the_others(
    client: Client, cast: SimpleNamespace, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.campaigns.views.notes.NOTES_PER_PAGE", 2)
    for number in range(5):
        campaign.notes.create(text=f"note-{number}", created_by=cast.alice)
    client.force_login(cast.alice)
    address = reverse("campaigns:notes", args=[campaign.pk])
    pages = [client.get(address, {"page": number}).content.decode() for number in (1, 2, 3)]
    assert [re.findall(r"break[^>]*>(note-\d)", page) for page in pages] == [
        ["note-3", "note-4"],
        ["note-1", "note-2"],
        ["note-0"],
    ]
    assert [("Earlier notes" in page, "Later notes" in page) for page in pages] == [
        (True, False),
        (True, True),
        (False, True),
    ]
