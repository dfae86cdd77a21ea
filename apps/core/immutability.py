"""What must never change, held by the database itself: a migration names the columns, a trigger refuses the rest."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import IntegrityError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.operations import RunSQL
from django.utils.translation import gettext_lazy as _

# What PostgreSQL itself never says: its own constraints have states of their own below this class.
_STATE = "23000"
REFUSED = _("What was measured, published or frozen never changes: nothing was stored.")
PREPARE = """
CREATE FUNCTION core_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
FORGET = "DROP FUNCTION core_refuse();"
# A setting of one transaction: whether rows that are kept may go.
_LETTING_GO = "fathom.letting_go"


class KeepColumns(RunSQL):
    """Refuse an UPDATE that gives any of the `columns` of a table another value, in `words`.

    `unless` is an SQL condition on OLD and NEW, without subqueries, that lets a change pass. What an UPDATE does not
    set costs it nothing, and neither does an INSERT. `name` tells several rules of one table apart. A migration that
    uses it depends on core's first one.
    """

    def __init__(
        self, table: str, columns: Sequence[str], words: str, *, name: str = "kept", unless: str = ""
    ) -> None:
        self.table, self.columns, self.words, self.name, self.unless = table, tuple(columns), words, name, unless
        trigger = f"{table}_{name}"
        quoted = [f'"{column}"' for column in columns]
        changed = f"({_row('OLD', quoted)}) IS DISTINCT FROM ({_row('NEW', quoted)})"
        condition = f"{changed} AND ({unless}) IS NOT TRUE" if unless else changed
        literal = words.replace("'", "''")
        super().__init__(
            f"CREATE TRIGGER {trigger} BEFORE UPDATE OF {', '.join(quoted)} ON {table}\n"
            f"FOR EACH ROW WHEN ({condition})\nEXECUTE FUNCTION core_refuse('{literal}');",
            f"DROP TRIGGER {trigger} ON {table};",
        )

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        """Return how it is made."""
        return (
            type(self).__qualname__,
            [self.table, list(self.columns), self.words],
            {"name": self.name, "unless": self.unless},
        )

    def describe(self) -> str:
        """Return what it does, as `migrate` tells it."""
        return f"Refuse other values of {', '.join(self.columns)} in {self.table}"


class KeepRows(RunSQL):
    """Refuse to DELETE rows of a table, in `words`, but for what is done in `letting_go()`."""

    def __init__(self, table: str, words: str) -> None:
        self.table, self.words = table, words
        literal = words.replace("'", "''")
        super().__init__(
            f"CREATE TRIGGER {table}_stay BEFORE DELETE ON {table}\n"
            f"FOR EACH ROW WHEN (current_setting('{_LETTING_GO}', true) IS DISTINCT FROM 'on')\n"
            f"EXECUTE FUNCTION core_refuse('{literal}');",
            f"DROP TRIGGER {table}_stay ON {table};",
        )

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        """Return how it is made."""
        return type(self).__qualname__, [self.table, self.words], {}

    def describe(self) -> str:
        """Return what it does, as `migrate` tells it."""
        return f"Refuse to delete rows of {self.table}"


@contextmanager
def letting_go() -> Iterator[None]:
    """Let rows that are kept be deleted, in a transaction: a person or their policy asked for it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s, true)", [_LETTING_GO])
        (earlier,) = cursor.fetchone()
        _set(cursor, "on")
        yield
        _set(cursor, earlier or "off")


def _set(cursor: CursorWrapper, value: str) -> None:
    cursor.execute("SELECT set_config(%s, %s, true)", [_LETTING_GO, value])


def is_refusal(error: BaseException) -> bool:
    """Say whether the database refused to change what never changes."""
    return isinstance(error, IntegrityError) and getattr(error.__cause__, "sqlstate", None) == _STATE


def _row(which: str, columns: Sequence[str]) -> str:
    return ", ".join(f"{which}.{column}" for column in columns)
