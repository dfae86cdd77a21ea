"""REST addresses."""

urlpatterns: list = []
