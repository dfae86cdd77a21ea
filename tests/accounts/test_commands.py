"""The commands of the set-up."""

from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts.models import Membership, Role, Team, User
from tests import factories

pytestmark = pytest.mark.django_db


def run(command: str, /, **options: str | bool) -> dict[str, str]:
    out = StringIO()
    call_command(command, stdout=out, **options)
    lines = out.getvalue().splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line) or {"text": lines[0]}


def test_an_account_is_made_with_a_random_password_that_signs_in() -> None:
    said = run("create_account", username="alice", team="KISTI", role="manager")
    assert said["username"] == "alice"
    assert authenticate(None, username="alice", password=said["password"]) == User.objects.get(username="alice")
    assert Membership.objects.get(user__username="alice").role == Role.MANAGER
    assert Team.objects.get().slug == "kisti"


def test_making_it_again_changes_nothing_and_shows_no_password() -> None:
    password = run("create_account", username="alice", team="KISTI", role="manager")["password"]
    said = run("create_account", username="alice", team="KISTI", role="manager")
    assert "password" not in said
    assert authenticate(None, username="alice", password=password)
    assert Membership.objects.count() == Team.objects.count() == User.objects.count() == 1


def test_a_password_that_nobody_was_told_is_renewed_until_somebody_signs_in(client: Client) -> None:
    lost = run("create_account", username="alice", team="KISTI", role="manager")["password"]
    password = run("create_account", username="alice", team="KISTI", renew_unused=True)["password"]
    assert password != lost
    assert not authenticate(None, username="alice", password=lost)
    assert client.login(username="alice", password=password)
    assert "password" not in run("create_account", username="alice", team="KISTI", renew_unused=True)
    assert authenticate(None, username="alice", password=password)


def test_a_given_password_is_set_and_not_repeated() -> None:
    said = run("create_account", username="alice", team="KISTI", role="viewer", password="a-Long.pass1")
    assert "password" not in said
    assert authenticate(None, username="alice", password="a-Long.pass1")
    run("create_account", username="alice", team="KISTI", role="viewer", password="b-Long.pass2")
    assert authenticate(None, username="alice", password="b-Long.pass2")


def test_a_role_may_be_changed_by_making_it_again() -> None:
    run("create_account", username="alice", team="KISTI", role="viewer")
    run("create_account", username="alice", team="KISTI", role="manager")
    assert Membership.objects.get().role == Role.MANAGER


@pytest.mark.parametrize(
    "wrong", [{"password": "123"}, {"username": "a b"}, {"username": ""}, {"team": ""}, {"team": "x" * 200}]
)
def test_wrong_input_is_refused_in_words(wrong: dict[str, str]) -> None:
    with pytest.raises(CommandError, match=r"\w"):
        run("create_account", **({"username": "alice", "team": "KISTI", "role": "viewer"} | wrong))
    assert not User.objects.exists()
    assert not Team.objects.exists()


def test_a_token_is_printed_and_nothing_else() -> None:
    alice = factories.user("alice")
    text = run("create_token", username="alice", name="demo", scope="read")["text"]
    token = alice.api_tokens.get()
    assert text.startswith(f"fth_api_{token.prefix}_")
    assert token.scope == "read"


def test_a_token_of_nobody_is_refused() -> None:
    with pytest.raises(CommandError, match="Nobody is called bob"):
        run("create_token", username="bob", name="demo")


def test_a_token_without_a_name_is_refused() -> None:
    factories.user("alice")
    with pytest.raises(CommandError, match="blank"):
        run("create_token", username="alice", name="")
