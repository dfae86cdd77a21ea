"""REST addresses."""

from rest_framework.routers import SimpleRouter

from apps.toolbox.api import TeamToolViewSet

router = SimpleRouter()
router.register("team-tools", TeamToolViewSet)

urlpatterns = router.urls
