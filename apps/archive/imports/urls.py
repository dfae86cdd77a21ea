"""Pages."""

from django.urls import path

from apps.archive.imports import views

app_name = "imports"
urlpatterns = [
    path("", views.ImportList.as_view(), name="import_list"),
    path("new/", views.create, name="import_create"),
    path("<int:pk>/", views.detail, name="detail"),
    path("<int:pk>/status/", views.status, name="status"),
    path("<int:pk>/columns/", views.map_columns, name="map_columns"),
    path("<int:pk>/complete/", views.complete, name="complete"),
    path("<int:pk>/discard/", views.discard, name="discard"),
    path("mappings/", views.MappingList.as_view(), name="mapping_list"),
    path("mappings/<int:pk>/forget/", views.forget_mapping, name="forget_mapping"),
]
