"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.results import api, path_api, validity_api
from apps.results.comparison import api as comparison_api
from apps.results.history import api as history
from apps.results.imports import api as imports
from apps.results.landing import api as landing
from apps.results.matrix import api as matrix
from apps.results.retention import api as retention
from apps.results.search import api as search_api

router = SimpleRouter()
router.register("results", api.ResultViewSet, basename="result")
router.register("saved-views", comparison_api.SavedViewViewSet, basename="savedview")
router.register("saved-searches", search_api.SavedSearchViewSet, basename="savedsearch")
router.register("imports", imports.ImportViewSet, basename="import")
router.register("column-mappings", imports.ColumnMappingViewSet, basename="columnmapping")

urlpatterns = [
    path("archive/", search_api.ArchiveSearch.as_view(), name="archive-search"),
    path("archive/facets/", search_api.ArchiveFacets.as_view(), name="archive-facets"),
    path("comparison/", comparison_api.CompareResults.as_view(), name="comparison"),
    path("experiments/<int:pk>/already/", search_api.AlreadyMeasured.as_view(), name="experiment-already"),
    path("experiments/<int:pk>/results/", api.ExperimentTable.as_view(), name="experiment-results"),
    path("experiments/<int:pk>/loss/", path_api.ExperimentLoss.as_view(), name="experiment-loss"),
    path("experiments/<int:pk>/routes/", path_api.ExperimentRoutes.as_view(), name="experiment-routes"),
    path("experiments/<int:pk>/samples.csv", api.SamplesAsCsv.as_view(), name="samples-csv"),
    path("experiments/<int:pk>/samples.json", api.SamplesAsJson.as_view(), name="samples-json"),
    path("histories/", history.HistoryList.as_view(), name="histories"),
    path("histories/<int:pk>/", history.History.as_view(), name="history"),
    path("histories/<int:pk>/decide/", history.DecideOnChange.as_view(), name="history-decide"),
    path("matrix/", matrix.SiteMatrix.as_view(), name="matrix"),
    path("trials/<int:pk>/validity/", validity_api.TrialValidity.as_view(), name="trial-validity"),
    path("runs/<int:pk>/telemetry/", api.RunTelemetry.as_view(), name="run-telemetry"),
    path("permanent-ids/<str:permanent_id>/", landing.PermanentId.as_view(), name="permanent-id"),
    path("teams/<slug:slug>/retention/", retention.TeamRetention.as_view(), name="team-retention"),
    path(
        "teams/<slug:slug>/retention/preview/",
        retention.TeamRetentionPreview.as_view(),
        name="team-retention-preview",
    ),
    *router.urls,
]
