"""REST addresses."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from apps.accounts.api.invitations import OwnInvitationViewSet, TeamInvitationViewSet
from apps.accounts.api.people import Me, TokenViewSet
from apps.accounts.api.set_aside import SetAsideViewSet
from apps.accounts.api.teams import MembershipViewSet, TeamViewSet
from apps.accounts.openapi import TokenScheme

__all__ = ["TokenScheme", "urlpatterns"]

router = SimpleRouter()
router.register("teams", TeamViewSet, basename="team")
router.register("memberships", MembershipViewSet, basename="membership")
router.register("invitations", OwnInvitationViewSet, basename="invitation")
router.register("set-aside", SetAsideViewSet, basename="set-aside")
router.register("tokens", TokenViewSet, basename="token")

of_team = SimpleRouter()
of_team.register("invitations", TeamInvitationViewSet, basename="team-invitation")

urlpatterns = [
    path("me/", Me.as_view(), name="me"),
    path("teams/<slug:slug>/", include(of_team.urls)),
    path("", include(router.urls)),
]
