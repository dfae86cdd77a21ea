"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.archive.exports import api as exports
from apps.archive.imports import api as imports
from apps.archive.incoming import api as incoming
from apps.archive.landing import api as landing
from apps.archive.retention import api as retention
from apps.archive.search import api as search

router = SimpleRouter()
router.register("saved-searches", search.SavedSearchViewSet, basename="savedsearch")
router.register("imports", imports.ImportViewSet, basename="import")
router.register("column-mappings", imports.ColumnMappingViewSet, basename="columnmapping")
router.register("campaign-archives", incoming.IncomingArchiveViewSet, basename="incoming-archive")

urlpatterns = [
    path("archive/", search.ArchiveSearch.as_view(), name="archive-search"),
    path("archive/facets/", search.ArchiveFacets.as_view(), name="archive-facets"),
    path("campaigns/<int:pk>/archive/", incoming.CampaignArchiveView.as_view(), name="campaign-archive"),
    path("experiments/<int:pk>/already/", search.AlreadyMeasured.as_view(), name="experiment-already"),
    path("exports/", exports.ExportView.as_view(), name="export"),
    path("exports/package/", exports.ExportPackageView.as_view(), name="export-package"),
    path("exports/tables/<str:tool>/", exports.ExportTableView.as_view(), name="export-table"),
    path("permanent-ids/<str:permanent_id>/", landing.PermanentId.as_view(), name="permanent-id"),
    path("teams/<slug:slug>/retention/", retention.TeamRetention.as_view(), name="team-retention"),
    path(
        "teams/<slug:slug>/retention/preview/",
        retention.TeamRetentionPreview.as_view(),
        name="team-retention-preview",
    ),
    *router.urls,
]
