"""REST addresses."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from apps.accounts.api.people import Me, TokenViewSet
from apps.accounts.api.set_aside import SetAsideViewSet
from apps.accounts.api.teams import MembershipViewSet, TeamViewSet
from apps.accounts.openapi import TokenScheme

__all__ = ["TokenScheme", "urlpatterns"]

router = SimpleRouter()
router.register("teams", TeamViewSet, basename="team")
router.register("memberships", MembershipViewSet, basename="membership")
router.register("set-aside", SetAsideViewSet, basename="set-aside")
router.register("tokens", TokenViewSet, basename="token")

urlpatterns = [path("me/", Me.as_view(), name="me"), path("", include(router.urls))]
