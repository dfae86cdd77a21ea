"""Pages."""

from django.urls import path

from apps.comparison.comparisons import views

app_name = "comparison"
urlpatterns = [
    path("", views.show_comparison, name="compare"),
    path("add/", views.add_set, name="add_set"),
    path("table.csv", views.download, {"ending": "csv"}, name="csv"),
    path("table.json", views.download, {"ending": "json"}, name="json"),
    path("views/", views.ViewList.as_view(), name="view_list"),
    path("views/new/", views.ViewCreate.as_view(), name="view_create"),
    path("views/<int:pk>/edit/", views.ViewUpdate.as_view(), name="view_update"),
    path("views/<int:pk>/delete/", views.ViewDelete.as_view(), name="view_delete"),
]
