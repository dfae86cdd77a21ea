"""REST addresses."""

from rest_framework.routers import SimpleRouter

from apps.reports import api

router = SimpleRouter()
router.register("reports", api.ReportViewSet, basename="report")
router.register("editions", api.EditionViewSet, basename="edition")
urlpatterns = router.urls
