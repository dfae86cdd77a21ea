"""Pages."""

from django.urls import path

from apps.archive.retention import views

app_name = "retention"
urlpatterns = [path("<slug:slug>/", views.rules, name="rules")]
