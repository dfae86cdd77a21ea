"""Pages whose thing is deleted, or whose value is taken, in the middle of a write say so."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError, OperationalError
from django.test import Client

from apps.core import races
from tests.campaigns import factories as make
from tests.pages import flat
from tests.rest import racing


@pytest.mark.parametrize(
    ("happening", "status", "words"),
    [("deleted", 404, str(races.GONE)), ("stored", 409, str(races.CHANGED))],
)
def test_a_page_says_that_another_was_at_it(
    cast: SimpleNamespace, pair: list[Any], client: Client, happening: str, status: int, words: str
) -> None:
    campaign = make.launched(cast, *pair)
    client.force_login(cast.oscar)
    moment = (
        racing.Moment(racing.changes, racing.delete(campaign))
        if happening == "deleted"
        else racing.Moment(racing.stores, racing.collide)
    )
    with moment.awaited():
        answer = client.post(f"/campaigns/{campaign.pk}/pause/")
    assert moment.has_come
    assert answer.status_code == status
    assert words in flat(answer.content.decode())


@pytest.mark.parametrize(
    ("error", "is_lost", "is_collision"),
    [
        (ObjectDoesNotExist(), True, False),
        (DatabaseError("Save with update_fields did not affect any rows."), True, False),
        (racing.collision(), False, True),
        # A column without its value is nobody else's doing.
        (IntegrityError("null value in a column"), False, False),
        (OperationalError("the connection is lost"), False, False),
        (ValueError("odd"), False, False),
    ],
)
def test_what_is_a_race_is_told_from_all_else(error: Exception, is_lost: bool, is_collision: bool) -> None:
    assert (races.is_lost(error), races.is_collision(error)) == (is_lost, is_collision)


def test_what_the_database_itself_refuses_is_no_row_that_is_gone() -> None:
    error = DatabaseError("numeric field overflow")
    error.__cause__ = ValueError("of the driver")
    assert not races.is_lost(error)
