"""A lease goes with the connection of whoever holds it."""

import pytest
from django.db import connection, transaction

from apps.core import leases
from tests import leasing

pytestmark = pytest.mark.django_db


def test_one_connection_has_it_at_a_time_and_another_row_is_another_lease() -> None:
    with leasing.elsewhere("work", 1):
        assert leases.is_held("work", 1)
        with leases.hold("work", 1) as is_ours:
            assert not is_ours
        with leases.hold("work", 2) as is_ours:
            assert is_ours


def test_it_is_free_once_its_work_has_ended_however_that_ends() -> None:
    with pytest.raises(ValueError), leases.hold("work"):
        raise ValueError
    with leasing.elsewhere("work"):
        pass


@pytest.mark.django_db(transaction=True)
def test_it_holds_over_transactions_that_come_and_go_and_ends_with_a_connection_that_dies() -> None:
    with leases.hold("work"):
        with transaction.atomic():
            transaction.set_rollback(True)
        other = connection.copy()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('work:0', 0))")
            assert cursor.fetchone() == (False,)
        other.close()
        # As when PostgreSQL is started anew: whoever works on finds out at the next statement, here at letting go.
        connection.connection.close()
    connection.close()
    assert leasing.is_free_in_time("work")
