"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.results import api, path_api, validity_api

router = SimpleRouter()
router.register("results", api.ResultViewSet, basename="result")

urlpatterns = [
    path("experiments/<int:pk>/results/", api.ExperimentTable.as_view(), name="experiment-results"),
    path("experiments/<int:pk>/loss/", path_api.ExperimentLoss.as_view(), name="experiment-loss"),
    path("experiments/<int:pk>/routes/", path_api.ExperimentRoutes.as_view(), name="experiment-routes"),
    path("experiments/<int:pk>/samples.csv", api.SamplesAsCsv.as_view(), name="samples-csv"),
    path("experiments/<int:pk>/samples.json", api.SamplesAsJson.as_view(), name="samples-json"),
    path("trials/<int:pk>/validity/", validity_api.TrialValidity.as_view(), name="trial-validity"),
    path("runs/<int:pk>/telemetry/", api.RunTelemetry.as_view(), name="run-telemetry"),
    *router.urls,
]
