"""Pages."""

from django.urls import path

from apps.results import trial_pages, validity_views, views

app_name = "results"
urlpatterns = [
    path("experiments/<int:pk>/", views.experiment, name="experiment"),
    path("experiments/<int:pk>/panel/", views.experiment_panel, name="experiment_panel"),
    path("experiments/<int:pk>/data/", views.experiment_data, name="experiment_data"),
    path("experiments/<int:pk>/loss/", views.experiment_loss, name="experiment_loss"),
    path("experiments/<int:pk>/samples.csv", views.download, {"ending": "csv"}, name="csv"),
    path("experiments/<int:pk>/samples.json", views.download, {"ending": "json"}, name="json"),
    path("campaigns/<int:pk>/trials/", trial_pages.trial_list, name="trial_list"),
    path("trials/<int:pk>/", views.trial, name="trial"),
    path("trials/<int:pk>/validity/", validity_views.change, name="trial_validity"),
    path("jobs/<uuid:pk>/telemetry/", views.job_telemetry, name="job_telemetry"),
    path("runs/<int:pk>/series/", views.run_series, name="run_series"),
]
