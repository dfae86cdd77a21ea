"""Pages."""

from django.urls import path

from apps.archive.search import views

app_name = "archive"
urlpatterns = [
    path("", views.search, name="search"),
    path("already/<int:pk>/", views.already, name="already"),
    path("searches/", views.SavedList.as_view(), name="saved_list"),
    path("searches/new/", views.SavedCreate.as_view(), name="saved_create"),
    path("searches/<int:pk>/edit/", views.SavedUpdate.as_view(), name="saved_update"),
    path("searches/<int:pk>/delete/", views.SavedDelete.as_view(), name="saved_delete"),
]
