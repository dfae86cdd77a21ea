from django.apps import AppConfig


class ToolboxConfig(AppConfig):
    name = "apps.toolbox"
