"""What empties the database after a test meets a worker at its last transaction, and neither is broken off."""

import threading
import time

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from apps.core.models import WorkerTime
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
# Longer than PostgreSQL waits before it looks for a deadlock (s).
BOTH_WAIT_S = 1.5


def test_it_lets_who_still_writes_come_to_an_end(cast: factories.Cast) -> None:
    begun, errors = threading.Event(), []

    def work() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                # The last of all tables, and then one of the first.
                cursor.execute("UPDATE testbeds_site SET name = name")
                begun.set()
                time.sleep(BOTH_WAIT_S)
                WorkerTime.objects.create(owner="team 1", spent_s=1.0, at=timezone.now())
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(30)
    call_command("flush", verbosity=0, interactive=False)
    worker.join()
    assert errors == []
    assert not WorkerTime.objects.exists() and not type(cast.team).objects.exists()
