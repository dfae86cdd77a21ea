"""Pages."""

from django.urls import path

from apps.tuning.published import views

app_name = "published"
urlpatterns = [path("import/", views.import_page, name="import")]
