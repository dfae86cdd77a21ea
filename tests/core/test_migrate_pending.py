"""A start migrates what is pending, and only then: to look takes a tenth of the time."""

from io import StringIO

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db.migrations.recorder import MigrationRecorder

from apps.core.management.commands import migrate_pending

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def migrated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the commands that were called, none of which is carried out."""
    called: list[str] = []
    monkeypatch.setattr(migrate_pending, "call_command", lambda name, **_options: called.append(name))
    return called


def start() -> str:
    out = StringIO()
    call_command("migrate_pending", stdout=out)
    return out.getvalue()


def test_nothing_is_done_where_nothing_is_pending(migrated: list[str]) -> None:
    assert "No migrations to apply" in start()
    assert migrated == []


def test_one_migration_that_is_missing_is_enough(migrated: list[str]) -> None:
    MigrationRecorder.Migration.objects.filter(app="results").latest("id").delete()
    start()
    assert migrated == ["migrate"]


def test_what_a_killed_migration_did_not_come_to_is_made_good(migrated: list[str]) -> None:
    Permission.objects.filter(codename="view_sample").delete()
    start()
    assert migrated == ["migrate"]
