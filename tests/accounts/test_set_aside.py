"""Rows that periodic work set aside: administrators of the service see them, and have them tried again."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.core.models import SetAside
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> SetAside:
    now = timezone.now()
    times = {"first_at": now, "last_at": now, "retry_at": now + timedelta(minutes=15)}
    return SetAside.objects.create(work="index_archive", row_id=7, reason="ValueError: no", attempts=9, **times)


def administrator() -> User:
    call_command("create_account", username="root", team="Operators", administrator=True)
    return User.objects.get(username="root")


def test_an_administrator_has_a_row_tried_again(client: Client, row: SetAside) -> None:
    header = factories.bearer(administrator())
    (listed,) = client.get("/api/v1/set-aside/?work=index_archive", **header).json()["results"]
    assert (listed["id"], listed["row_id"], listed["reason"]) == (row.pk, 7, "ValueError: no")
    answer = client.post(f"/api/v1/set-aside/{row.pk}/try-again/", **header)
    assert answer.status_code == 200
    row.refresh_from_db()
    assert row.retry_at <= timezone.now() and row.attempts == 9
    assert client.get("/api/v1/set-aside/?work=index_archiv", **header).status_code == 400


def test_the_account_opens_the_administrators_page(client: Client, row: SetAside) -> None:
    client.force_login(administrator())
    assert "ValueError: no" in client.get("/admin/core/setaside/").content.decode()


def test_the_right_ends_as_it_came(client: Client, row: SetAside) -> None:
    person = administrator()
    call_command("create_account", username="root", team="Operators")
    assert User.objects.get(pk=person.pk).is_superuser
    call_command("create_account", username="root", team="Operators", administrator=False)
    assert client.get("/api/v1/set-aside/", **factories.bearer(person)).status_code == 403


def test_managers_and_strangers_are_refused(cast: Any, client: Client, row: SetAside) -> None:
    for person in (cast.alice, cast.oscar, cast.bob, cast.charlie):
        header = factories.bearer(person)
        assert client.get("/api/v1/set-aside/", **header).status_code == 403
        assert client.post(f"/api/v1/set-aside/{row.pk}/try-again/", **header).status_code == 403
        client.force_login(person)
        assert client.get("/admin/core/setaside/").status_code == 302
        client.logout()
    assert client.get("/api/v1/set-aside/").status_code == 401
    row.refresh_from_db()
    assert row.retry_at > timezone.now()
