from django.apps import AppConfig


class TestbedsConfig(AppConfig):
    name = "apps.testbeds"
