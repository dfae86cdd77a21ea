"""REST: the rows that periodic work set aside, for the administrators of the service."""

from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, permissions, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.filters import NameFilter
from apps.accounts.permissions import Administrator, ScopedToken
from apps.core import isolation, rest
from apps.core.models import SetAside


class SetAsideSerializer(serializers.ModelSerializer):
    """A row: the name of the work, the number of the row (0: the whole work), why it failed, and how often."""

    class Meta:
        model = SetAside
        fields = ["id", "work", "row_id", "reason", "attempts", "first_at", "last_at", "retry_at"]
        read_only_fields = fields


class SetAsideFilter(filters.FilterSet):
    """Filters of rows set aside."""

    work = NameFilter("work", lambda _user: SetAside.objects.order_by().values_list("work", flat=True).distinct())

    class Meta:
        model = SetAside
        fields = ["work"]


class SetAsideViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """What periodic work could not do, the latest first; only administrators of the service see it."""

    queryset = SetAside.objects.all()
    serializer_class = SetAsideSerializer
    permission_classes = [permissions.IsAuthenticated, ScopedToken, Administrator]
    filterset_class = SetAsideFilter
    ordering_fields = ["id", "last_at", "retry_at", "attempts"]

    def get_queryset(self) -> QuerySet[SetAside]:
        """Return the rows, the latest first."""
        return SetAside.objects.order_by("-last_at", "-pk")

    @extend_schema(request=None, responses=SetAsideSerializer)
    @action(detail=True, methods=["post"], filterset_class=None, url_path="try-again")
    def try_again(self, request: Request, pk: str) -> Response:
        """Have the row tried again at the next look of its work, instead of at `retry_at`."""
        row = self.get_object()
        isolation.try_again(row, now=timezone.now())
        return Response(self.get_serializer(row).data)
