"""Pages."""

from django.urls import path

from apps.home import views

app_name = "start"
urlpatterns = [
    path("changes/", views.recent_changes, name="changes"),
    path("lookup/", views.lookup_hits, name="lookup"),
]
