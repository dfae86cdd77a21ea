"""Pages."""

from django.urls import path, register_converter

from apps.archive.exports import views
from apps.archive.incoming import views as archives


class EndingConverter:
    """A form in which tables leave; the views refuse what is none, and say which there are."""

    regex = "[A-Za-z0-9]{1,20}"

    def to_python(self, value: str) -> str:
        """Return the ending as it stands in the address."""
        return value

    def to_url(self, value: str) -> str:
        """Return the ending as it stands in the address."""
        return value


register_converter(EndingConverter, "ending")

app_name = "exports"
urlpatterns = [
    path("", views.export, name="export"),
    path("package.<ending:ending>.zip", views.download_package, name="package"),
    path("campaigns/<int:pk>/archive.zip", archives.download, name="archive"),
    path("archives/", archives.receive, name="receive"),
    path("archives/<int:pk>/", archives.incoming, name="incoming"),
    path("archives/<int:pk>/give-up/", archives.give_up, name="give_up"),
    path("tables/<str:tool>.<ending:ending>", views.download_table, name="table"),
]
