"""Django application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReportsConfig(AppConfig):
    """Reports and exports."""

    name = "apps.reports"
    verbose_name = _("Reports")
