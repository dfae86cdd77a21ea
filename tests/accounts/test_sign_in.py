"""Signing in and out, the lock against guessing, and the password."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts import services
from apps.accounts.models import ApiToken
from tests import factories
from tests.factories import PASSWORD, Cast

LOGIN = "/accounts/login/"


def sign_in(client: Client, name: str, password: str = PASSWORD, **more: str):
    return client.post(LOGIN, {"username": name, "password": password} | more)


def test_the_right_password_signs_in_and_leads_to_the_start(cast: Cast, client: Client) -> None:
    response = sign_in(client, "alice")
    assert (response.status_code, response.url) == (302, "/")
    assert client.get("/accounts/profile/").status_code == 200


def test_it_goes_on_to_the_page_that_was_asked_for(cast: Cast, client: Client) -> None:
    response = client.get("/accounts/tokens/")
    assert (response.status_code, response.url) == (302, "/accounts/login/?next=/accounts/tokens/")
    assert "Sign in to see that page" in client.get(response.url).content.decode()
    assert sign_in(client, "alice", next="/accounts/tokens/").url == "/accounts/tokens/"


def test_it_never_goes_on_to_another_host(cast: Cast, client: Client) -> None:
    assert sign_in(client, "alice", next="https://evil.example/").url == "/"


@pytest.mark.parametrize(("name", "password"), [("alice", "wrong"), ("nobody", PASSWORD), ("", ""), ("\0", "x")])
def test_a_wrong_password_and_an_unknown_name_read_the_same(
    cast: Cast, client: Client, name: str, password: str
) -> None:
    response = sign_in(client, name, password)
    assert response.status_code == 200
    assert 'role="alert"' in response.content.decode() or "field-errors" in response.content.decode()
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("door", [LOGIN, "/admin/login/"])
@pytest.mark.parametrize("length", [151, 256, 100_000])
def test_a_name_that_nobody_can_have_is_refused_at_its_field_and_counted_nowhere(
    cast: Cast, client: Client, settings: Settings, door: str, length: int
) -> None:
    settings.AXES_ENABLED = True
    answer = client.post(door, {"username": "x" * length, "password": "x"})
    assert (answer.status_code, "at most 150 characters" in answer.content.decode()) == (200, True)
    assert not AccessAttempt.objects.exists()


def test_a_closed_account_does_not_sign_in(cast: Cast, client: Client) -> None:
    cast.alice.is_active = False
    cast.alice.save()
    assert sign_in(client, "alice").status_code == 200
    assert "_auth_user_id" not in client.session


def test_who_is_signed_in_is_not_asked_again(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.get(LOGIN).status_code == 302


def test_signing_out_takes_a_form(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.get("/accounts/logout/").status_code == 405
    response = client.post("/accounts/logout/")
    assert (response.status_code, response.url) == (302, LOGIN)
    assert client.get("/accounts/profile/").status_code == 302


def test_guessing_is_locked_out_for_a_while_and_only_from_there(
    cast: Cast, client: Client, settings: Settings
) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(2):
        assert sign_in(client, "alice", "wrong").status_code == 200
    response = sign_in(client, "alice", "wrong")
    html = response.content.decode()
    assert response.status_code == 429
    assert "Locked for a while" in html
    assert "wrong 3 times" in html
    assert "Wait 15 min" in html
    assert sign_in(client, "alice").status_code == 429, "the right password is locked out too"
    assert sign_in(client, "oscar").status_code == 302, "others are not"
    assert sign_in(Client(REMOTE_ADDR="192.0.2.7"), "alice").status_code == 302, "nor is she elsewhere"


def test_the_lock_ends_by_itself(cast: Cast, client: Client, settings: Settings) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 1
    assert sign_in(client, "alice", "wrong").status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(client, "alice").status_code == 302


def test_a_new_password_keeps_this_browser_and_signs_the_others_out(cast: Cast, client: Client) -> None:
    other = Client()
    for browser in (client, other):
        browser.force_login(cast.alice)
    new = {"old_password": PASSWORD, "new_password1": "a-Long.pass1", "new_password2": "a-Long.pass1"}
    response = client.post("/accounts/password/", new, follow=True)
    assert "The password was changed" in response.content.decode()
    assert client.get("/accounts/profile/").status_code == 200
    assert other.get("/accounts/profile/").status_code == 302
    assert sign_in(Client(), "alice", "a-Long.pass1").status_code == 302


@pytest.mark.parametrize("ended", [True, False])
def test_a_new_password_ends_the_tokens_of_whoever_knew_the_old_one(cast: Cast, client: Client, ended: bool) -> None:
    headers, others = factories.bearer(cast.alice), factories.bearer(cast.bob)
    client.force_login(cast.alice)
    assert 'name="end_tokens"' in client.get("/accounts/password/").content.decode()
    new = {"old_password": PASSWORD, "new_password1": "a-Long.pass1", "new_password2": "a-Long.pass1"}
    response = client.post("/accounts/password/", new | ({"end_tokens": "on"} if ended else {}), follow=True)
    assert ("1 API token has ended." in response.content.decode()) == ended
    assert Client().get("/api/v1/me/", **headers).status_code == (401 if ended else 200)
    assert Client().get("/api/v1/me/", **others).status_code == 200


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"old_password": "wrong"}, "was entered incorrectly"),
        ({"new_password2": "other"}, "match"),
        ({"new_password1": "123", "new_password2": "123"}, "too short"),
    ],
)
def test_a_bad_new_password_is_refused_in_words(
    cast: Cast, client: Client, changes: dict[str, str], said: str
) -> None:
    client.force_login(cast.alice)
    new = {"old_password": PASSWORD, "new_password1": "a-Long.pass1", "new_password2": "a-Long.pass1"}
    response = client.post("/accounts/password/", new | changes)
    assert response.status_code == 200
    assert said in response.content.decode()
    cast.alice.refresh_from_db()
    assert cast.alice.check_password(PASSWORD)


def test_a_stranger_changes_no_password(client: Client, db: None) -> None:
    assert client.get("/accounts/password/").status_code == 302


def test_the_administrators_pages_are_for_administrators(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.get("/admin/").status_code == 302
    client.force_login(factories.user("root", is_superuser=True, is_staff=True))
    for page in ("user", "team", "apitoken"):
        assert client.get(f"/admin/accounts/{page}/").status_code == 200
    assert client.get(f"/admin/accounts/user/{cast.alice.pk}/change/").status_code == 200
    assert client.get(f"/admin/accounts/team/{cast.team.pk}/change/").status_code == 200
    assert client.get("/admin/accounts/apitoken/add/").status_code == 403


def test_the_administrator_revokes_a_token_with_those_that_were_made_with_it(cast: Cast, client: Client) -> None:
    cast.alice.is_staff = cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    now = timezone.now()
    parent, _text = services.issue_token(user=cast.bob, name="parent", now=now)
    services.issue_token(user=cast.bob, name="child", now=now, minted_by=parent)
    client.post("/admin/accounts/apitoken/", {"action": "revoke", "_selected_action": [parent.pk]})
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    page = client.get(f"/admin/accounts/apitoken/{parent.pk}/change/").content.decode()
    assert 'name="revoked_at' not in page and 'name="expires_at' not in page
