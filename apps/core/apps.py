from django.apps import AppConfig
from django.db.models.signals import pre_migrate


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        """Have every `migrate` look first whether it can."""
        from apps.core import first_release

        pre_migrate.connect(first_release.look, sender=self)
