"""Language, time zone and theme of a person."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from tests.factories import Cast

PROFILE = "/accounts/profile/"
VALUES = {"language": "", "timezone": "UTC", "theme": "auto"}


def test_a_stranger_is_asked_to_sign_in(client: Client, db: None) -> None:
    assert client.get(PROFILE).status_code == 302
    assert client.post(PROFILE, VALUES).status_code == 302
    assert client.post("/accounts/theme/", {"theme": "dark"}).status_code == 302


def test_preferences_are_saved_and_at_once_in_force(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    values = {"language": "ko", "timezone": "Asia/Seoul", "theme": "dark", "first_name": "Alice"}
    html = client.post(PROFILE, values, follow=True).content.decode()
    cast.alice.refresh_from_db()
    assert (cast.alice.language, cast.alice.timezone, cast.alice.theme) == ("ko", "Asia/Seoul", "dark")
    assert '<html lang="ko" data-theme="dark">' in html


def test_the_language_chosen_beats_the_browsers(cast: Cast, client: Client) -> None:
    User.objects.filter(pk=cast.alice.pk).update(language="en")
    client.force_login(cast.alice)
    response = client.get(PROFILE, headers={"Accept-Language": "ko"})
    assert '<html lang="en"' in response.content.decode()
    assert response.headers["Content-Language"] == "en"


def test_without_a_choice_the_browser_decides(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert '<html lang="ko"' in client.get(PROFILE, headers={"Accept-Language": "ko"}).content.decode()
    assert '<html lang="en"' in client.get(PROFILE, headers={"Accept-Language": "fr"}).content.decode()


def test_times_are_shown_in_the_persons_zone(cast: Cast, client: Client) -> None:
    User.objects.filter(pk=cast.alice.pk).update(timezone="Asia/Seoul")
    client.force_login(cast.alice)
    assert "+09:00" in client.get(PROFILE).content.decode()
    client.force_login(cast.bob)
    assert "+00:00" in client.get(PROFILE).content.decode()


def test_a_zone_that_is_no_longer_known_breaks_no_page(cast: Cast, client: Client) -> None:
    User.objects.filter(pk=cast.alice.pk).update(timezone="Mars/Olympus")
    client.force_login(cast.alice)
    assert "+00:00" in client.get(PROFILE).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("timezone", "Seoul", "“Seoul” is no time zone"),
        ("timezone", "../../etc/passwd", "is no time zone"),
        ("language", "tlh", "This is not offered here"),
        ("theme", "pink", "This is not offered here"),
        ("email", "nobody", "no e-mail address"),
    ],
)
def test_a_wrong_preference_is_refused_at_its_field(
    cast: Cast, client: Client, field: str, value: str, said: str
) -> None:
    client.force_login(cast.alice)
    response = client.post(PROFILE, VALUES | {field: value})
    assert response.status_code == 200
    assert said in response.content.decode()
    cast.alice.refresh_from_db()
    assert cast.alice.timezone == "UTC"


def test_a_theme_is_chosen_from_the_menu(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    response = client.post("/accounts/theme/", {"theme": "dark", "next": "/accounts/teams/"})
    assert (response.status_code, response.url) == (302, "/accounts/teams/")
    assert 'data-theme="dark"' in client.get(PROFILE).content.decode()
    response = client.post("/accounts/theme/", {"theme": "light"}, headers={"X-Requested-With": "fetch"})
    assert (response.status_code, response.content) == (204, b"")
    cast.alice.refresh_from_db()
    assert cast.alice.theme == "light"


def test_choosing_a_theme_leads_to_no_other_host(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.post("/accounts/theme/", {"theme": "dark", "next": "//evil.example/"}).url == PROFILE


def test_an_unknown_theme_is_refused(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.post("/accounts/theme/", {"theme": "pink"}).status_code == 400
    assert client.get("/accounts/theme/").status_code == 405


def test_a_stranger_chooses_a_language_for_the_browser(client: Client, db: None) -> None:
    response = client.post("/accounts/language/", {"language": "ko", "next": "/accounts/login/"})
    assert (response.status_code, response.url) == (302, "/accounts/login/")
    assert '<html lang="ko"' in client.get("/accounts/login/").content.decode()


def test_a_person_chooses_a_language_for_every_browser(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    client.post("/accounts/language/", {"language": "ko"})
    cast.alice.refresh_from_db()
    assert cast.alice.language == "ko"


def test_an_unknown_language_changes_nothing(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    for code in ("tlh", "de", ""):
        client.post("/accounts/language/", {"language": code})
    cast.alice.refresh_from_db()
    assert cast.alice.language == ""
    assert client.get("/accounts/language/").status_code == 405


def test_the_profile_asks_few_questions_of_the_database(
    cast: Cast, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(cast.alice)
    with django_assert_max_num_queries(6):
        client.get(PROFILE)
