from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import pre_migrate

from apps.core import first_release, writing


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        """Have every `migrate` look first whether it can, and every connection tell of a disk that is full."""
        pre_migrate.connect(first_release.look, sender=self)
        connection_created.connect(writing.attend)
