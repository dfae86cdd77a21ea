"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.reports.exports import api
from apps.reports.exports.incoming import api as archives

router = SimpleRouter()
router.register("campaign-archives", archives.IncomingArchiveViewSet, basename="incoming-archive")
urlpatterns = [
    *router.urls,
    path("campaigns/<int:pk>/archive/", archives.CampaignArchiveView.as_view(), name="campaign-archive"),
    path("exports/", api.ExportView.as_view(), name="export"),
    path("exports/package/", api.ExportPackageView.as_view(), name="export-package"),
    path("exports/tables/<str:tool>/", api.ExportTableView.as_view(), name="export-table"),
]
