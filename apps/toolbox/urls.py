"""Pages."""

from django.urls import path

from apps.toolbox.views import definitions, pages

app_name = "toolbox"
urlpatterns = [
    path("", pages.ToolList.as_view(), name="tool_list"),
    path("new/", definitions.create, name="tool_create"),
    path("import/", definitions.import_file, name="tool_import"),
    path("preview/", definitions.preview, name="tool_preview"),
    path("<int:pk>/", pages.detail, name="tool_detail"),
    path("<int:pk>/edit/", definitions.update, name="tool_update"),
    path("<int:pk>/archive/", pages.archive, name="tool_archive"),
    path("<int:pk>/restore/", pages.restore, name="tool_restore"),
    path("<int:pk>/versions/<int:number>/", pages.detail, name="tool_version"),
    path("<int:pk>/versions/<int:number>/take-over/", pages.take_over, name="tool_take_over"),
    path("<int:pk>/versions/<int:number>/file/", pages.export, name="tool_export"),
]
