"""REST addresses."""

from rest_framework.routers import SimpleRouter

from apps.tuning import api

router = SimpleRouter()
router.register("findings", api.FindingViewSet, basename="finding")
urlpatterns = router.urls
