"""Pages."""

from django.urls import path

from apps.comparison.history import views

app_name = "history"
urlpatterns = [
    path("", views.history_list, name="list"),
    path("<int:pk>/", views.history, name="detail"),
    path("<int:pk>/decide/", views.decide, name="decide"),
    path("<int:pk>/levels.csv", views.download, {"ending": "csv"}, name="csv"),
    path("<int:pk>/levels.json", views.download, {"ending": "json"}, name="json"),
]
