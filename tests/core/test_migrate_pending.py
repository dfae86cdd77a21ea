"""A start migrates what is pending, and only then: to look takes a tenth of the time."""

from io import StringIO

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.core import first_release
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
    ((_app, latest),) = MigrationLoader(connection).graph.leaf_nodes("tuning")
    MigrationRecorder.Migration.objects.filter(app="tuning", name=latest).delete()
    start()
    assert migrated == ["migrate"]


def test_what_a_killed_migration_did_not_come_to_is_made_good(migrated: list[str]) -> None:
    Permission.objects.filter(codename="view_sample").delete()
    start()
    assert migrated == ["migrate"]


def have_applied(*left_out: tuple[str, str]) -> None:
    """Have the database's record be one of before the first release: all steps up to it but those left out.

    What was added since the release is applied, too, but in rooms of which something is left out.
    """
    migrations = MigrationLoader(connection).disk_migrations
    steps = [step for migration in migrations.values() for step in migration.replaces]
    assert len(steps) == len(set(steps)) > 80
    apps = {app for app, _name in steps}
    added = {(app, name) for (app, name), migration in migrations.items() if app in apps and not migration.replaces}
    MigrationRecorder.Migration.objects.filter(app__in=apps).delete()
    added -= {step for step in added if step[0] in dict(left_out)}
    for app, name in sorted({*steps, *added} - set(left_out)):
        MigrationRecorder(connection).record_applied(app, name)


def test_a_database_of_before_the_first_release_has_all_there_is(migrated: list[str]) -> None:
    have_applied()
    assert "No migrations to apply" in start()
    assert migrated == []


@pytest.mark.parametrize("command", ["migrate_pending", "migrate"])
def test_a_database_that_lacks_some_of_it_is_told_what_to_start_first(command: str) -> None:
    have_applied(("tuning", "0009_names_of_verified_campaigns"))
    with pytest.raises(CommandError, match=first_release.LAST_STEPS):
        call_command(command, stdout=StringIO())


@pytest.mark.parametrize("command", ["migrate_pending", "migrate"])
def test_a_database_of_a_later_version_is_left_alone(migrated: list[str], command: str) -> None:
    for app, name in (("campaigns", "0999_later"), ("archive", "0998_too")):
        MigrationRecorder(connection).record_applied(app, name)
    words = "later version of Fathom, or of another one: it has archive.0998_too, campaigns.0999_later,"
    with pytest.raises(CommandError, match=words):
        call_command(command, stdout=StringIO())
    assert migrated == []


def test_steps_of_rooms_that_are_no_more_say_nothing(migrated: list[str]) -> None:
    MigrationRecorder(connection).record_applied("no_room", "0007_anything")
    assert "No migrations to apply" in start()
