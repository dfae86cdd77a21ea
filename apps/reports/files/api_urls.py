"""REST addresses."""

from rest_framework.routers import SimpleRouter

from apps.reports.files import api

router = SimpleRouter()
router.register("renderings", api.RenderingViewSet, basename="rendering")

urlpatterns = router.urls
