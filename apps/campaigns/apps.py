from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class CampaignsConfig(AppConfig):
    name = "apps.campaigns"

    def ready(self) -> None:
        """Let each app add its kinds of references: the module `references` of it is imported."""
        autodiscover_modules("references")
