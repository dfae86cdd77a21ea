"""What every command of manage.py is made of."""

from django.core.management import base


class BaseCommand(base.BaseCommand):
    """A command that starts at once: Django's checks, which `make lint` asks, load every page for a second."""

    requires_system_checks: list[str] = []
