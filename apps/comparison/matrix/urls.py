"""Pages."""

from django.urls import path

from apps.comparison.matrix import views

app_name = "matrix"
urlpatterns = [
    path("", views.matrix, name="matrix"),
    path("panel/", views.panel, name="panel"),
    path("table.csv", views.download, {"ending": "csv"}, name="csv"),
    path("table.json", views.download, {"ending": "json"}, name="json"),
]
