"""What every command of manage.py is made of."""

import os
from typing import Any

from django.core.management import base
from django.db import connection
from django.utils.translation import gettext as _

from apps.core import migrated, outage, tables


class BaseCommand(base.BaseCommand):
    """A command that starts at once: Django's checks, which `make lint` asks, load every page for a second.

    One of other code than the tables are of is not carried out, unless it `needs_tables` not. One that meets a
    database that is away, such as one that starts again, ends with status 75: who starts it may do so once more.
    """

    requires_system_checks: list[str] = []
    needs_tables = True

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Carry it out, or raise CommandError with what is to be done before."""
        try:
            if self.needs_tables:
                _require_tables()
            answer: str | None = super().execute(*args, **options)
        except Exception as error:
            if not outage.is_unavailability(error):
                raise
            text = _("The database is away: %(why)s") % {"why": error}
            raise base.CommandError(text, returncode=os.EX_TEMPFAIL) from error
        return answer


def _require_tables() -> None:
    with connection.cursor() as cursor:
        difference = tables.compare(tables.of_this_code(), migrated.applied(cursor))
    if difference is not None:
        raise base.CommandError(_("Nothing was done. %(why)s") % {"why": difference.words()})
