"""REST addresses."""

from django.urls import path

from apps.reports.exports import api

urlpatterns = [
    path("exports/", api.ExportView.as_view(), name="export"),
    path("exports/package/", api.ExportPackageView.as_view(), name="export-package"),
    path("exports/tables/<str:tool>/", api.ExportTableView.as_view(), name="export-table"),
]
