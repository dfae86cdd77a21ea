"""Pages."""

from django.urls import path

from apps.comparison.figures import views

app_name = "figures"
urlpatterns = [path("", views.figure, name="draw")]
