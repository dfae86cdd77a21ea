"""Pages."""

app_name = "toolbox"
urlpatterns: list = []
