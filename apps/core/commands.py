"""What every command of manage.py is made of."""

from typing import Any

from django.core.management import base
from django.db import connection
from django.utils.translation import gettext as _

from apps.core import migrated, tables


class BaseCommand(base.BaseCommand):
    """A command that starts at once: Django's checks, which `make lint` asks, load every page for a second.

    One of other code than the tables are of is not carried out, unless it `needs_tables` not.
    """

    requires_system_checks: list[str] = []
    needs_tables = True

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Carry it out, or raise CommandError with what is to be done before."""
        if self.needs_tables:
            _require_tables()
        answer: str | None = super().execute(*args, **options)
        return answer


def _require_tables() -> None:
    with connection.cursor() as cursor:
        difference = tables.compare(tables.of_this_code(), migrated.applied(cursor))
    if difference is not None:
        raise base.CommandError(_("Nothing was done. %(why)s") % {"why": difference.words()})
