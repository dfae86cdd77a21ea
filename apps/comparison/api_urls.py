"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.comparison.comparisons import api as comparisons
from apps.comparison.history import api as history
from apps.comparison.matrix import api as matrix

router = SimpleRouter()
router.register("saved-views", comparisons.SavedViewViewSet, basename="savedview")

urlpatterns = [
    path("comparison/", comparisons.CompareResults.as_view(), name="comparison"),
    path("histories/", history.HistoryList.as_view(), name="histories"),
    path("histories/<int:pk>/", history.History.as_view(), name="history"),
    path("histories/<int:pk>/decide/", history.DecideOnChange.as_view(), name="history-decide"),
    path("matrix/", matrix.SiteMatrix.as_view(), name="matrix"),
    *router.urls,
]
