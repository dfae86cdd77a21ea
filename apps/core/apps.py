from django.apps import AppConfig
from django.db.models.signals import pre_migrate

from apps.core import first_release


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        """Have every `migrate` look first whether it can."""
        pre_migrate.connect(first_release.look, sender=self)
