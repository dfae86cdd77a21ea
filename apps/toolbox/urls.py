"""Pages."""

from django.urls import path

from apps.toolbox.views import editing, pages

app_name = "toolbox"
urlpatterns = [
    path("", pages.ToolList.as_view(), name="tool_list"),
    path("new/", editing.create, name="tool_create"),
    path("import/", editing.import_file, name="tool_import"),
    path("preview/", editing.preview, name="tool_preview"),
    path("<int:pk>/", pages.detail, name="tool_detail"),
    path("<int:pk>/edit/", editing.update, name="tool_update"),
    path("<int:pk>/archive/", pages.archive, name="tool_archive"),
    path("<int:pk>/restore/", pages.restore, name="tool_restore"),
    path("<int:pk>/versions/<int:number>/", pages.detail, name="tool_version"),
    path("<int:pk>/versions/<int:number>/file/", pages.export, name="tool_export"),
]
