"""The next dates of a series, shown before it is launched."""

from types import SimpleNamespace

import pytest
from django.test import Client

from tests.campaigns import factories as make
from tests.campaigns.browsing import address, browser


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


def preview(client: Client, **query: str) -> str:
    return client.get(address("dates"), query).content.decode()


def test_the_next_dates_are_shown_while_one_types(oscar: Client) -> None:
    page = preview(oscar, cron="30 2 * * 1", cron_timezone="Asia/Seoul")
    assert page.count("<time") == 5
    # 02:30 on a Monday in Seoul is 17:30 on a Sunday in UTC, which is this person's zone.
    assert page.count(" 17:30</time>") == 5


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"cron": "30 2 * *", "cron_timezone": "UTC"}, "five fields"),
        ({"cron": "99 2 * * 1", "cron_timezone": "UTC"}, "is no cron expression"),
        ({"cron": "30 2 * * 1", "cron_timezone": "Mars/Olympus"}, "is no time zone"),
        ({"cron": "30 2 31 2 *", "cron_timezone": "UTC"}, "is no cron expression"),
        ({}, "empty runs it once"),
    ],
)
def test_what_gives_no_dates_says_why(oscar: Client, query: dict[str, str], words: str) -> None:
    assert words in preview(oscar, **query)
    assert "<time" not in preview(oscar, **query)


def test_a_stranger_is_sent_to_sign_in(db: None) -> None:
    assert Client().get(address("dates"), {"cron": "30 2 * * 1"}).status_code == 302


def test_a_draft_shows_when_it_would_start(oscar: Client, cast: SimpleNamespace) -> None:
    draft = make.campaign(cast, cron="30 2 * * 1", cron_timezone="UTC")
    assert "Next starts:" in oscar.get(address("campaign_detail", draft.pk)).content.decode()
    form = oscar.get(address("campaign_update", draft.pk)).content.decode()
    assert 'hx-target="#id_cron_helptext"' in form
    assert 'id="id_cron_helptext"' in form
