"""Whether a database has all that the steps make in it: a restore that was cut off leaves tables without their keys.

What there is to be follows from the models and from the SQL of the migrations; nothing has to be written down.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.core.management import CommandError
from django.db import connection, models
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RunSQL

# A kind of thing, the table that has it ("" for a function), its name or its columns.
Thing = tuple[str, str, str]
# So many of the things that are missing are named.
_NAMED = 4
_REMEDY = "Put a backup in the place of what is there: make restore FILE=… (docs/running.md)."
_MADE = re.compile(
    r"\b(?P<verb>CREATE|DROP)\s+(?:OR\s+REPLACE\s+)?(?:"
    r"FUNCTION\s+(?:IF\s+EXISTS\s+)?(?P<function>\w+)"
    r"|(?:CONSTRAINT\s+)?TRIGGER\s+(?:IF\s+EXISTS\s+)?(?P<trigger>\w+)\b.*?\sON\s+(?P<table>\w+))",
    re.DOTALL,
)
_CONSTRAINTS = """
    SELECT con.contype, rel.relname, con.conname,
        (SELECT string_agg(att.attname, ',' ORDER BY key.place)
         FROM unnest(con.conkey) WITH ORDINALITY key(number, place)
         JOIN pg_attribute att ON att.attrelid = con.conrelid AND att.attnum = key.number)
    FROM pg_constraint con JOIN pg_class rel ON rel.oid = con.conrelid
    WHERE rel.relnamespace = current_schema()::regnamespace AND con.convalidated
"""
_INDEXES = """
    SELECT rel.relname, own.relname,
        (SELECT string_agg(att.attname, ',' ORDER BY key.place)
         FROM unnest(ind.indkey::int2[]) WITH ORDINALITY key(number, place)
         JOIN pg_attribute att ON att.attrelid = ind.indrelid AND att.attnum = key.number)
    FROM pg_index ind JOIN pg_class own ON own.oid = ind.indexrelid JOIN pg_class rel ON rel.oid = ind.indrelid
    WHERE rel.relnamespace = current_schema()::regnamespace AND ind.indisvalid
"""
_TRIGGERS = """
    SELECT rel.relname, tri.tgname FROM pg_trigger tri JOIN pg_class rel ON rel.oid = tri.tgrelid
    WHERE rel.relnamespace = current_schema()::regnamespace AND NOT tri.tgisinternal AND tri.tgenabled IN ('O', 'A')
"""
_FUNCTIONS = "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
_KINDS = {"p": "primary key", "u": "unique", "f": "foreign key", "c": "check", "x": "exclusion"}


def require(executor: MigrationExecutor) -> None:
    """Raise CommandError for a database with all steps applied that lacks something of what they make."""
    missing = sorted(wanted(executor) - there())
    if missing:
        raise CommandError(_words(missing))


def require_to_migrate(loader: MigrationLoader) -> None:
    """Raise CommandError for a database on which the next steps cannot build, before they fail on it.

    It has tables that none of its steps made, as when a backup of an earlier version was put over a later one's
    tables, or tables without a primary key.
    """
    tables = {name for (name,) in _rows(_TABLES)}
    applied = [key for key in loader.applied_migrations if key in loader.graph.nodes]
    own = _tables_of(loader, applied)
    strays = sorted(tables & _tables_of(loader, loader.graph.leaf_nodes()) - own)
    if strays:
        raise CommandError(
            f"This database has tables that none of its steps made ({_some(strays)}), as when a backup of an earlier"
            f" version was put over the tables of a later one. {_REMEDY}"
        )
    keyed = {table for kind, table, _name in there() if kind == "primary key"}
    if bare := sorted(tables & own - keyed):
        raise CommandError(_words([("primary key", table, "") for table in bare]))


def wanted(executor: MigrationExecutor) -> set[Thing]:
    """Return what a database with all steps applied has."""
    things = set[Thing]()
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            things |= set(_of_model(model))
    graph = executor.loader.graph
    steps = executor.migration_plan(graph.leaf_nodes(), clean_start=True)
    tables = {name for kind, name, _ in things if kind == "table"}
    own = _made_by(migration for migration, _backwards in steps)
    return things | {thing for thing in own if not thing[1] or thing[1] in tables}


def there() -> set[Thing]:
    """Return what the database has, each under all that it may be wanted by; what is not valid is left out."""
    things: set[Thing] = {("table", name, "") for (name,) in _rows(_TABLES)}
    for kind, table, name, columns in _rows(_CONSTRAINTS):
        if kind in _KINDS:
            things |= {(_KINDS[kind], table, columns or ""), ("named", table, name)}
    for table, name, columns in _rows(_INDEXES):
        things |= {("index", table, columns or ""), ("named", table, name)}
    things |= {("trigger", table, name) for table, name in _rows(_TRIGGERS)}
    return things | {("function", "", name) for (name,) in _rows(_FUNCTIONS)}


def _of_model(model: type[models.Model]) -> Iterator[Thing]:
    """Yield the table of a model, its keys, constraints and indexes."""
    table = model._meta.db_table
    yield "table", table, ""
    for field in model._meta.local_concrete_fields:
        for kind in _kinds_of(field):
            yield kind, table, str(field.column)
    for names in model._meta.unique_together:
        yield "unique", table, ",".join(_column(model, name) for name in names)
    for named in (*model._meta.constraints, *model._meta.indexes):
        yield "named", table, named.name


def _column(model: type[models.Model], name: str) -> str:
    column: str = getattr(model._meta.get_field(name), "column")  # noqa: B009 - relations that have none are no keys
    return column


def _kinds_of(field: "models.Field[Any, Any]") -> Iterator[str]:
    """Yield the kinds of what one column is wanted to have."""
    if field.primary_key:
        yield "primary key"
    elif field.unique:
        yield "unique"
    elif getattr(field, "db_index", False):
        yield "index"
    if isinstance(field, models.ForeignKey) and getattr(field, "db_constraint", True):
        yield "foreign key"
    if field.db_parameters(connection).get("check"):
        yield "check"


def _made_by(migrations: Iterable[Migration]) -> set[Thing]:
    """Return the triggers and functions that the SQL of migrations leaves, in their order."""
    things = set[Thing]()
    for migration in migrations:
        for operation in migration.operations:
            if isinstance(operation, RunSQL):
                for match in _MADE.finditer(_text_of(operation)):
                    function, trigger = match["function"], match["trigger"]
                    thing = ("function", "", function) if function else ("trigger", match["table"], trigger)
                    (things.add if match["verb"] == "CREATE" else things.discard)(thing)
    return things


def _text_of(operation: RunSQL) -> str:
    if isinstance(operation.sql, str):
        return operation.sql
    return "\n".join(part if isinstance(part, str) else part[0] for part in operation.sql)


def _tables_of(loader: MigrationLoader, nodes: list[tuple[str, str]]) -> set[str]:
    """Return the tables of the models as they are after some steps and what these rest on."""
    state = loader.project_state(nodes)
    return {str(one.options.get("db_table") or f"{app}_{name}") for (app, name), one in state.models.items()}


def _rows(query: str) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def _words(missing: list[Thing]) -> str:
    named = [f"{kind} {name} of {table}".replace("  ", " ").removesuffix(" of ") for kind, table, name in missing]
    return (
        f"This database is not whole: {len(missing)} of what its tables need are missing ({_some(named)})."
        f" So a restore that was cut off leaves it. {_REMEDY}"
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
