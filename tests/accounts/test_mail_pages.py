"""The pages that a mail's links open: for whoever has the link, the same for everybody, and nothing without it."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts import consent
from apps.accounts.consent import ConsentLink
from apps.accounts.models import MailAddress
from apps.config.settings.limits import Rate
from tests import factories
from tests.factories import Cast, signed_in
from tests.pages import flat

OWNER = "owner@elsewhere.example"
PAGES = ("accounts:mail_confirm", "accounts:mail_stop")


@pytest.fixture
def links(cast: Cast, settings: Any) -> dict[str, str]:
    """Return the address of each page's link for the owner and the cast's team."""
    settings.PUBLIC_URL = "https://fathom.example.org"
    found = (consent.confirm_address(OWNER, cast.team), consent.stop_address(OWNER, cast.team))
    return {name: link.removeprefix(settings.PUBLIC_URL) for name, link in zip(PAGES, found, strict=True)}


@pytest.mark.parametrize("page", PAGES)
def test_everybody_sees_the_same_and_a_look_changes_nothing(cast: Cast, links: dict[str, str], page: str) -> None:
    for client in (Client(), *(signed_in(person) for person in (cast.bob, cast.charlie, cast.alice))):
        answer = client.get(links[page])
        text = answer.content.decode().partition("<main")[2].partition("</main>")[0]
        assert answer.status_code == 200
        assert OWNER in text and "grid" in text
        assert not {"oscar", "alice", "strangers"} & set(text.split())
        assert answer["Referrer-Policy"] == "no-referrer" and "no-store" in answer["Cache-Control"]
        assert client.head(links[page]).status_code == 200
    assert not MailAddress.objects.exists()


@pytest.mark.parametrize("page", PAGES)
def test_without_its_own_link_a_page_is_not_there(cast: Cast, links: dict[str, str], page: str) -> None:
    address, token = reverse(page), links[page].partition("token=")[2]
    [other] = [link.partition("token=")[2] for name, link in links.items() if name != page]
    forged = ["", "x", token[:-1], f"{token}x", other, signing.dumps([OWNER, cast.team.pk], salt="session")]
    for wrong in forged:
        for client in (Client(), signed_in(cast.alice)):
            answers = [client.get(address, {"token": wrong}), client.post(f"{address}?token={wrong}")]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert OWNER not in answers[0].content.decode()
    assert not MailAddress.objects.exists()


def test_a_link_to_confirm_ends_and_one_to_stop_does_not(links: dict[str, str], monkeypatch: Any) -> None:
    now = signing.time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + timedelta(days=8).total_seconds())
    assert [Client().get(link).status_code for link in links.values()] == [404, 200]


def test_mails_are_stopped_of_one_team_or_of_all_and_taken_back(cast: Cast, links: dict[str, str]) -> None:
    stop, teams = links["accounts:mail_stop"], (cast.team, cast.other_team)
    assert Client().post(links["accounts:mail_confirm"]).status_code == 200

    def mailed() -> list[bool]:
        return [consent.recipients_of(team, [OWNER.title()])[0].is_mailed for team in teams]

    # It was for this team that they confirmed it.
    assert mailed() == [True, False]
    consent.confirm(ConsentLink(OWNER, cast.other_team, cast.other_team.pk), timezone.now())
    assert mailed() == [True, True]
    client = Client(enforce_csrf_checks=True)
    for sent, left in (
        ({"team": "1"}, [False, True]),
        ({"all": "1"}, [False, False]),
        ({"again": "all"}, [False, True]),
        ({"again": "team"}, [True, True]),
    ):
        assert client.post(stop, sent).status_code == 200
        assert mailed() == left
    assert client.post(stop, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert consent.recipients_of(cast.team, [OWNER])[0].standing == consent.Consent.STOPPED


def test_mail_me_again_takes_back_what_its_own_page_stopped_and_nothing_else(
    cast: Cast, links: dict[str, str], settings: Any
) -> None:
    teams = (cast.team, cast.other_team)
    for team in teams:
        consent.confirm(ConsentLink(OWNER, team, team.pk), timezone.now())
    stop = links["accounts:mail_stop"]
    others = consent.stop_address(OWNER, cast.other_team).removeprefix(settings.PUBLIC_URL)

    def stopped() -> list[bool]:
        return [not consent.recipients_of(team, [OWNER])[0].is_mailed for team in teams]

    Client().post(others, {"all": "1"})
    answer = flat(Client().post(stop, {"team": "1"}).content.decode())
    assert 'name="again" value="team"' in answer
    answer = Client().post(stop, {"again": "team"}).content.decode()
    assert "stay stopped by another choice" in answer and stopped() == [True, True]
    assert 'name="again" value="all"' in flat(Client().post(stop, {"all": "1"}).content.decode())
    Client().post(stop, {"again": "all"})
    assert stopped() == [True, True]
    # Whoever then confirms to a team wants that one.
    Client().post(links["accounts:mail_confirm"])
    assert stopped() == [False, True]
    assert "no longer stopped" in Client().post(others, {"again": "all"}).content.decode()
    assert stopped() == [False, False]


def test_a_stop_of_all_wins_though_the_clock_was_set_back(cast: Cast, links: dict[str, str]) -> None:
    link, now = ConsentLink(OWNER, cast.team, cast.team.pk), timezone.now()
    consent.confirm(link, now)
    consent.stop(link, now - timedelta(hours=1), of_all=True)
    assert not consent.recipients_of(cast.team, [OWNER])[0].is_mailed
    consent.confirm(link, now - timedelta(hours=1))
    assert consent.recipients_of(cast.team, [OWNER])[0].is_mailed


@pytest.mark.parametrize("page", PAGES)
def test_a_body_that_cannot_be_read_is_refused_without_a_stack(
    cast: Cast, links: dict[str, str], page: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", "django.request")
    for client in (Client(), Client(enforce_csrf_checks=True)):
        # With a cookie the body is read in search of the form's token.
        client.get(links[page])
        answer = client.post(links[page], b"x", content_type="multipart/form-data")
        assert answer.status_code == 400
    assert caplog.records and not any(record.exc_info for record in caplog.records)
    assert not MailAddress.objects.exists()


def test_a_link_to_confirm_to_a_team_that_is_gone_is_not_there(links: dict[str, str], cast: Cast) -> None:
    team = factories.team("leaving", manager=cast.oscar)
    confirm = consent.confirm_address(OWNER, team).partition(".org")[2]
    assert Client().get(confirm).status_code == 200
    team.delete()
    assert [Client().get(confirm).status_code, Client().post(confirm).status_code] == [404, 404]


def test_who_confirms_takes_back_what_they_stopped(cast: Cast, links: dict[str, str]) -> None:
    Client().post(links["accounts:mail_stop"], {"all": "1"})
    Client().post(links["accounts:mail_confirm"])
    [recipient] = consent.recipients_of(cast.team, [OWNER])
    assert recipient.standing == consent.Consent.CONFIRMED and recipient.since is not None
    assert recipient.since <= timezone.now()


def test_the_pages_are_asked_for_so_often_and_no_more(links: dict[str, str], settings: Any) -> None:
    settings.RATE_LIMITS = {"mail-links": Rate(3, 600)}
    # Counts are all tests', which run side by side.
    client = Client(REMOTE_ADDR=f"2001:db8:{secrets.randbelow(2**16):x}:{secrets.randbelow(2**16):x}::1")
    answers = [client.get(link) for link in links.values() for _again in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1]["Retry-After"]) <= 600
