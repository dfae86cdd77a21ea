"""Databases that a later version has migrated: an earlier one would write into tables that it does not know."""

from django.apps import apps
from django.core.management import CommandError
from django.db.migrations.loader import MigrationLoader

from apps.core import tables


def require_none(loader: MigrationLoader) -> None:
    """Raise CommandError for a database with steps, of the rooms that there are, which this version does not have."""
    known = set(loader.disk_migrations)
    known |= {step for migration in loader.disk_migrations.values() for step in migration.replaces}
    own = {config.label for config in apps.get_app_configs() if config.name.startswith("apps.")}
    later = sorted({(app, name) for app, name in loader.applied_migrations if app in own} - known)
    if later:
        raise CommandError(tables.words_of_later(f"{app}.{name}" for app, name in later))
