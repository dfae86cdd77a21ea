"""Pages."""

from django.urls import path, register_converter

from apps.reports.exports import views
from apps.reports.exports.package import ENDINGS


class EndingConverter:
    """One of the forms in which tables leave."""

    regex = "|".join(ENDINGS)

    def to_python(self, value: str) -> str:
        """Return it as it is."""
        return value

    def to_url(self, value: str) -> str:
        """Return it as it is."""
        return value


register_converter(EndingConverter, "ending")

app_name = "exports"
urlpatterns = [
    path("", views.export, name="export"),
    path("package.<ending:ending>.zip", views.download_package, name="package"),
    path("tables/<str:tool>.<ending:ending>", views.download_table, name="table"),
]
