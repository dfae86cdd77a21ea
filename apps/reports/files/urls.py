"""Pages."""

from django.urls import path

from apps.reports.files import views

app_name = "renderings"
urlpatterns = [
    path("editions/<str:permanent_id>/", views.edition_files, name="edition"),
    path("drafts/<int:pk>/", views.draft_files, name="draft"),
    path("<int:pk>/", views.file, name="file"),
]
