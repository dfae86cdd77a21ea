"""REST: oneself, one's tokens."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import consent, queries, services
from apps.accounts.api.base import TeamField
from apps.accounts.models import ApiToken, Membership, User
from apps.accounts.rights import user_of
from apps.core import rest
from apps.core.versions import hold


class OwnTeamSerializer(serializers.ModelSerializer):
    """A team one is in, with one's role."""

    slug = serializers.SlugField(source="team.slug", read_only=True)
    name = serializers.CharField(source="team.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["slug", "name", "role"]


class TokenSerializer(serializers.ModelSerializer):
    """A token without its secret, which nobody keeps."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "prefix", "scope", "created_at", "expires_at", "last_used_at", "revoked_at"]
        read_only_fields = ["prefix", "created_at", "last_used_at", "revoked_at"]


class NewTokenSerializer(TokenSerializer):
    """A token just made: `token` is its text, shown this once."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class MeSerializer(serializers.ModelSerializer):
    """The person who asks."""

    language = serializers.ChoiceField(
        choices=settings.LANGUAGES, allow_blank=True, help_text="Empty: as the browser asks."
    )
    default_team = TeamField(
        allow_null=True, help_text="Where new work lands that names no team; null: no choice was made."
    )
    teams = OwnTeamSerializer(source="memberships", many=True, read_only=True)

    class Meta:
        model = User
        fields = [
            "username", "first_name", "last_name", "email", "default_team", "language", "timezone", "theme",
            "is_superuser", "teams",
        ]  # fmt: skip
        read_only_fields = ["username", "is_superuser"]

    @transaction.atomic
    def update(self, instance: User, validated_data: Any) -> User:
        """Change what was sent; an address that somebody gives themselves proves nothing."""
        hold(instance)
        before, instance.email = instance.email, validated_data.get("email", instance.email)
        consent.claim(instance, before=before)
        user: User = super().update(instance, validated_data)
        return user


class Me(rest.APIView):
    """The person who asks: preferences and teams."""

    @extend_schema(operation_id="me_read", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Return who asks, and their role in each team."""
        return Response(self._serializer(request).data)

    @extend_schema(operation_id="me_update", request=MeSerializer, responses=MeSerializer)
    def patch(self, request: Request) -> Response:
        """Change one's preferences."""
        serializer = self._serializer(request, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)

    def get_subject(self) -> User:
        """Return who asks."""
        return user_of(self.request)

    def _serializer(self, request: Request, **options: Any) -> MeSerializer:
        return MeSerializer(_with_teams(user_of(request)), context={"request": request}, **options)


class TokenViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.DestroyModelMixin,
    rest.GenericViewSet,
):
    """One's own API tokens; deleting one revokes it, its row stays."""

    queryset = ApiToken.objects.none()
    serializer_class = TokenSerializer
    filterset_fields = ["scope"]
    search_fields = ["name"]
    ordering_fields = ["id", "name", "created_at", "last_used_at"]

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens of who asks."""
        return queries.tokens_of(user_of(self.request))

    @extend_schema(responses={status.HTTP_201_CREATED: NewTokenSerializer})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a token; its text is in this answer and nowhere else. One made with a token ends with it."""
        wish = self.get_serializer(data=request.data)
        wish.is_valid(raise_exception=True)
        token, text = services.issue_token(
            user=user_of(request),
            now=timezone.now(),
            minted_by=request.auth if isinstance(request.auth, ApiToken) else None,
            **wish.validated_data,
        )
        return Response({**TokenSerializer(token).data, "token": text}, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: ApiToken) -> None:
        """Revoke it."""
        services.revoke_token(token=instance, now=timezone.now())


def _with_teams(user: User) -> User:
    memberships = Prefetch("memberships", Membership.objects.select_related("team").order_by("team__name"))
    return User.objects.select_related("default_team").prefetch_related(memberships).get(pk=user.pk)
