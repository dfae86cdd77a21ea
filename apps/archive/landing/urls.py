"""Pages of permanent ids."""

from django.urls import path

from apps.archive.landing import views

app_name = "landing"
urlpatterns = [
    path("<str:permanent_id>/", views.landing, name="campaign"),
    path("<str:permanent_id>/recipe.yaml", views.recipe, name="recipe"),
    path("<str:permanent_id>/experiments/<int:position>/samples.csv", views.samples, name="samples"),
    path("<str:permanent_id>/run/", views.run, name="run"),
]
