"""Pages."""

from django.urls import path

from apps.reports.overview import views

app_name = "management"
urlpatterns = [
    path("new/", views.ManagementCreate.as_view(), name="create"),
    path("<int:pk>/edit/", views.ManagementUpdate.as_view(), name="update"),
]
