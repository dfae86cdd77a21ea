"""What somebody else does in the middle of a request: played on its own connection, before one of its statements."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection, models
from psycopg import errors

from tests import rewriting

# What a request does for itself, whatever it is about.
OWN = ("accounts_apitoken", "accounts_user", "django_session")
WRITE = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) \"(\w+)\"")
LOCK = re.compile(r"\bFOR (?:NO KEY )?UPDATE\b")


def vanish(rows: models.QuerySet[Any]) -> None:
    """Take rows away with all that hangs on them, as the last step of a deletion does."""
    found = list(rows.values_list("pk", flat=True))
    if not found:
        return
    for field in rows.model._meta.get_fields(include_hidden=True):
        if not (field.one_to_many or field.one_to_one) or not field.auto_created or field.concrete:
            continue
        children = field.related_model._base_manager.filter(**{f"{field.field.name}__in": found})
        if field.on_delete is models.SET_NULL:
            children.update(**{field.field.name: None})
        elif field.related_model is not rows.model:
            vanish(children)
    rows.model._base_manager.filter(pk__in=found)._raw_delete(rows.db)


class Moment:
    """The instant of a request at which `happen` is called, once: before its first statement that `is_it`.

    `look` is called at the end of the request.
    """

    def __init__(
        self, is_it: Callable[[str], bool], happen: Callable[[], None], look: Callable[[], None] = lambda: None
    ) -> None:
        self.has_come = False
        self._is_it, self._happen, self._look = is_it, happen, look

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Carry a statement out."""
        if self.has_come and sql.startswith("SET CONSTRAINTS"):
            # The test's own, at the end of the request.
            self._look()
        if not self.has_come and self._is_it(sql):
            self.has_come = True
            self._happen()
        return execute(sql, params, many, context)

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Look at every statement."""
        with connection.execute_wrapper(self):
            yield


def changes(sql: str) -> bool:
    """Return whether a statement locks or changes something that a request is about."""
    written = WRITE.match(sql)
    return bool(LOCK.search(sql)) or (written is not None and written[1] not in OWN)


def stores(sql: str) -> bool:
    """Return whether a statement stores or changes something that a request is about."""
    written = WRITE.match(sql)
    return written is not None and written[1] not in OWN


class Read:
    """Any statement after the first one that read a table: what it said is old by then."""

    def __init__(self, table: str) -> None:
        self._table, self._was_read = table, False

    def __call__(self, sql: str) -> bool:
        """Look at a statement."""
        was_read = self._was_read
        self._was_read = was_read or (sql.startswith("SELECT") and f'"{self._table}"' in sql)
        return was_read and not sql.startswith(("SAVEPOINT", "RELEASE"))


def delete(row: models.Model) -> Callable[[], None]:
    """Return what takes a row away."""

    def happen() -> None:
        with rewriting.allowed():
            vanish(type(row)._base_manager.filter(pk=row.pk))

    return happen


def collision() -> IntegrityError:
    """Return what Django raises where a value is taken."""
    error = IntegrityError("duplicate key value violates unique constraint")
    error.__cause__ = errors.UniqueViolation(str(error))
    return error


def collide() -> None:
    """Fail as a statement does whose value somebody else stored a moment ago."""
    raise collision()
