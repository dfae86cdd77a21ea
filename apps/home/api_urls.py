"""REST addresses."""

from django.urls import path

from apps.home import api

urlpatterns = [path("needs/", api.Needs.as_view(), name="needs")]
