"""A connection is given back by who waits, and never taken from a transaction."""

import pytest
from django.db import connection, transaction

from apps.core import connections

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_given_back_between_transactions_and_kept_within_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    connection.close()
    connection.connect()
    with transaction.atomic():
        connections.give_back()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    assert connection.connection is not None
    connections.give_back()
    assert connection.connection is None
