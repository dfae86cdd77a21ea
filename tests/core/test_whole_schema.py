"""A database that lacks something of what the steps make is not started on; what they make is all known."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from apps.core import whole_schema

pytestmark = pytest.mark.django_db


def make(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_all_that_a_migrated_database_has_is_known() -> None:
    wanted = whole_schema.wanted(MigrationExecutor(connection))
    there = whole_schema.there()
    assert wanted <= there
    # What backs a key or a constraint, or sorts a column's text for LIKE, has its name from Django or PostgreSQL.
    assert {kind for kind, _table, _name in wanted} >= {"primary key", "unique", "foreign key", "index", "named"}
    own = {thing for thing in there - wanted if thing[0] in ("primary key", "foreign key", "trigger", "function")}
    assert own == {("primary key", "django_migrations", "id")}
    assert sum(kind == "trigger" for kind, _table, _name in wanted) > 50


CASES = {
    "a primary key": "ALTER TABLE results_result DROP CONSTRAINT results_result_pkey CASCADE",
    "a trigger": "DROP TRIGGER results_result_stay ON results_result",
    "a trigger that does nothing": "ALTER TABLE results_result DISABLE TRIGGER results_result_stay",
    "a function": "DROP FUNCTION core_refuse() CASCADE",
    "a table": "DROP TABLE results_sample CASCADE",
}


@pytest.mark.parametrize("sql", CASES.values(), ids=CASES)
def test_a_database_that_lacks_anything_is_told_of_with_the_remedy(sql: str) -> None:
    make(sql)
    with pytest.raises(CommandError, match=r"not whole.*make restore"):
        call_command("migrate_pending", verbosity=0)


def test_tables_that_no_step_made_are_told_of_before_a_step_fails_on_them() -> None:
    MigrationRecorder.Migration.objects.filter(app="tuning").delete()
    with pytest.raises(CommandError, match=r"none of its steps made \(tuning_.*make restore"):
        call_command("migrate_pending", verbosity=0)


def test_nothing_is_built_on_tables_without_keys() -> None:
    MigrationRecorder.Migration.objects.filter(app="tuning").delete()
    tables = [name for kind, name, _ in whole_schema.there() if kind == "table" and name.startswith("tuning_")]
    make(
        f"DROP TABLE {', '.join(tables)} CASCADE;"
        "ALTER TABLE results_result DROP CONSTRAINT results_result_pkey CASCADE"
    )
    with pytest.raises(CommandError, match=r"not whole: 1 .*primary key of results_result"):
        call_command("migrate_pending", verbosity=0)
