"""Databases of before the first release: they have all the steps that led to its tables, or are told what to do."""

from typing import Any

from django.core.management import CommandError
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from apps.core import later_release

# The last commit with the steps that led to the tables of the first release.
LAST_STEPS = "63258536"


def require_all(loader: MigrationLoader) -> None:
    """Raise CommandError for a database with some of the steps: Django would take those that are missing for done."""
    for migration in loader.disk_migrations.values():
        has_step = {step in loader.applied_migrations for step in migration.replaces}
        if len(has_step) > 1:
            raise CommandError(
                "This database is older than the first release, and some of the steps up to it are missing."
                f" Start the service once from commit {LAST_STEPS}, then start this one."
            )


def look(using: str, **_others: Any) -> None:
    """Look before `migrate` does anything; a receiver of its signal."""
    loader = MigrationLoader(connections[using])
    require_all(loader)
    later_release.require_none(loader)
