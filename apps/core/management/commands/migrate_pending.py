"""Migrate the database where something is pending: to find that nothing is spares most of what `migrate` does."""

from typing import Any

from django.apps import apps
from django.contrib.auth import get_permission_codename
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.core import first_release, later_release, migrated, whole_schema
from apps.core.commands import BaseCommand


class Command(BaseCommand):
    """Let every start of the service begin with it."""

    help = __doc__
    needs_tables = False

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, or say that there is nothing to be done; CommandError for a database that is not whole."""
        executor = MigrationExecutor(connection)
        if is_up_to_date(executor):
            self.stdout.write("No migrations to apply.")
        else:
            whole_schema.require_to_migrate(executor.loader)
            call_command("migrate", interactive=False, verbosity=options["verbosity"], stdout=self.stdout)
        whole_schema.require(executor)
        with connection.cursor() as cursor:
            migrated.note(migrated.applied(cursor))


def is_up_to_date(executor: MigrationExecutor | None = None) -> bool:
    """Say whether all migrations are applied, and what `migrate` does after them was done, too."""
    executor = executor or MigrationExecutor(connection)
    first_release.require_all(executor.loader)
    later_release.require_none(executor.loader)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes()) and _has_permissions()


def _has_permissions() -> bool:
    """Say whether every model's permissions are there: the last that `migrate` makes, and it may have been killed."""
    wanted = {
        (model._meta.app_label, get_permission_codename(action, model._meta))
        for model in apps.get_models()
        for action in model._meta.default_permissions
    }
    return wanted <= set(Permission.objects.values_list("content_type__app_label", "codename"))
