"""REST: findings."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.core import messages
from apps.tuning import queries, services
from apps.tuning.models import Finding


class FindingSerializer(serializers.ModelSerializer):
    """A finding; `title` is in the reader's language, `details` holds the whole record."""

    title = serializers.SerializerMethodField()

    class Meta:
        model = Finding
        fields = [
            "id", "team", "campaign", "subject", "rule", "rule_version", "state", "state_reason", "title", "value",
            "unit", "change", "undo", "confidence", "details", "trials", "created_at", "updated_at",
        ]  # fmt: skip

    def get_title(self, finding: Finding) -> str:
        """Return the title's text."""
        return messages.render(finding.title)


class DecisionSerializer(serializers.Serializer):
    """What a person decides of a finding."""

    state = serializers.ChoiceField(choices=Finding.State.choices)
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class FindingViewSet(viewsets.ReadOnlyModelViewSet):
    """What the rules concluded, with evidence and the exact change."""

    queryset = Finding.objects.none()
    serializer_class = FindingSerializer
    filterset_fields = ["campaign", "rule", "state"]
    ordering_fields = ["id", "confidence", "created_at"]

    def get_queryset(self):
        """Return the findings of the user's teams."""
        return queries.findings_for(scoping.user_of(self.request)).prefetch_related("trials")

    @extend_schema(request=DecisionSerializer, responses=FindingSerializer)
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Accept a finding, dismiss it with a reason, or open it again."""
        finding = self.get_object()
        scoping.require(request.user, finding.team, Role.OPERATOR)
        decision = DecisionSerializer(data=request.data)
        decision.is_valid(raise_exception=True)
        try:
            services.decide_finding(finding=finding, user=scoping.user_of(request), **decision.validated_data)
        except services.FindingNeedsReason as error:
            raise serializers.ValidationError({"reason": ["Say why the finding is dismissed."]}) from error
        return Response(self.get_serializer(finding).data)
