"""REST: findings, what is decided of them, and what puts them to the test."""

from typing import Any

from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField
from apps.accounts.filters import NameFilter, RowFilter
from apps.accounts.models import Role
from apps.bench import rules
from apps.campaigns import queries as campaigns
from apps.campaigns.api.brought_in import BroughtInField
from apps.campaigns.api.campaigns import CampaignSerializer
from apps.campaigns.api.told import ToldField
from apps.core import messages, rest
from apps.tuning import proposals, queries, readers, services
from apps.tuning.models import LONGEST_REASON, Decision, Finding, Verification


class VerificationSerializer(serializers.ModelSerializer):
    """A finding put to the test; gains are ratios, then over now, with their interval of 95 %."""

    agrees = serializers.BooleanField(read_only=True, allow_null=True, help_text="Predicted within 15 % of realised.")

    class Meta:
        model = Verification
        fields = [
            "id", "finding", "campaign", "proof", "unit", "verdict", "predicted", "predicted_gain", "present",
            "realised", "gain", "gain_low", "gain_high", "pairs", "agrees", "created_at", "judged_at",
            "told_by", "imported_from",
        ]  # fmt: skip


class DecisionLineSerializer(serializers.ModelSerializer):
    """A line of a finding's history; without a user a measurement or a rule changed the state."""

    user: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    note = serializers.SerializerMethodField()

    class Meta:
        model = Decision
        fields = ["id", "created_at", "user", "told_by", "earlier", "state", "reason", "note", "verification"]

    def get_note(self, decision: Decision) -> str:
        """Return what the service says itself, in the reader's language."""
        return messages.render(decision.note)


def _marked(finding: Finding) -> Finding:
    """Return a finding with its flags, which a list has read for all of its own at once."""
    if not hasattr(finding, "mark"):
        queries.attach_flags([finding])
    return finding


class FindingSerializer(serializers.ModelSerializer):
    """A finding; `title` is in the reader's language, `details` holds the whole record."""

    team = TeamField(read_only=True)
    brought_in = BroughtInField("campaign.brought_in")
    judged_elsewhere = serializers.CharField(
        read_only=True, help_text="From where the word came that it is verified or refuted; empty if it is ours."
    )
    told_by_archive = ToldField("campaign.is_told")
    title = serializers.SerializerMethodField()
    verifications = VerificationSerializer(many=True, read_only=True)
    flagged = serializers.SerializerMethodField(
        help_text="How many of the trials that it rests on have a flag that bears on its metric."
    )
    flags = serializers.SerializerMethodField(help_text="How many of them by flag.")

    class Meta:
        model = Finding
        fields = [
            "id", "team", "campaign", "subject", "ends", "rule", "rule_version", "kind", "state", "state_reason",
            "title", "value", "unit", "change", "undo", "predicted_gain", "confidence", "details", "trials",
            "flagged", "flags", "verifications", "imported_from", "judged_elsewhere", "brought_in",
            "told_by_archive", "created_at", "updated_at",
        ]  # fmt: skip

    def get_title(self, finding: Finding) -> str:
        """Return the title's text."""
        return messages.render(finding.title)

    def get_flagged(self, finding: Finding) -> int:
        """Return how many of the trials of the evidence have a flag."""
        return finding.mark.flagged if _marked(finding).mark else 0

    def get_flags(self, finding: Finding) -> dict[str, int]:
        """Return how many of them have which flag."""
        return finding.mark.counts if _marked(finding).mark else {}


class DecisionSerializer(serializers.Serializer):
    """What a person decides of a finding; whether it is verified or refuted only a measurement does."""

    state = serializers.ChoiceField(choices=[(state.value, state.label) for state in Finding.DECISIONS])
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST_REASON)


class OfferSerializer(serializers.Serializer):
    """An experiment that a finding proposes; its `key` asks for a draft of it."""

    key = serializers.CharField()
    reason = serializers.SerializerMethodField()
    proposal = serializers.JSONField()

    def get_reason(self, offer: proposals.Offer) -> str:
        """Return why, in the reader's language."""
        return messages.render(offer.reason)


class DraftOfSerializer(serializers.Serializer):
    """Which proposal becomes a draft: its key, or `all` of the finding's own."""

    key = serializers.CharField(required=False, default=proposals.ALL)


class CalibrationSerializer(serializers.Serializer):
    """How predictions turned out: put to the test, verified, refuted, and within 15 % of what was realised."""

    judged = serializers.IntegerField()
    verified = serializers.IntegerField()
    refuted = serializers.IntegerField()
    close = serializers.IntegerField()


class FindingFilter(filters.FilterSet):
    """Filters of findings."""

    campaign = RowFilter(campaigns.campaigns_for)
    rule = NameFilter("rule", lambda _user: [rule.name for rule in rules.registered()])

    class Meta:
        model = Finding
        fields = ["campaign", "rule", "kind", "state"]


class FindingViewSet(rest.ReadOnlyModelViewSet):
    """What the rules concluded, with evidence and the exact change, and whether measuring again bore it out."""

    queryset = Finding.objects.none()
    serializer_class = FindingSerializer
    filterset_class = FindingFilter
    ordering_fields = ["id", "confidence", "predicted_gain", "created_at"]

    def get_queryset(self):
        """Return the findings of what counts for the user; what is public where they name its campaign."""
        names_one = self.detail or "campaign" in self.request.query_params
        rows = (queries.findings_for if names_one else queries.listed_for)(rights.user_of(self.request))
        if not self.detail and "state" not in self.request.query_params:
            rows = queries.standing(rows)
        return rows.prefetch_related("trials")

    def paginate_queryset(self, queryset):
        """Return a page of findings with the flags of what they rest on."""
        page = super().paginate_queryset(queryset)
        if page is None:
            return None
        queries.attach_flags(page)
        return readers.as_read_by(page, rights.user_of(self.request))

    def get_object(self):
        """Return the finding as the person reads it."""
        (finding,) = readers.as_read_by([super().get_object()], rights.user_of(self.request))
        return finding

    @extend_schema(request=DecisionSerializer, responses=FindingSerializer)
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Accept a finding, dismiss it with a reason, or open it again."""
        finding, decision = self._wish(DecisionSerializer)
        try:
            services.decide_finding(finding=finding, user=rights.user_of(request), **decision)
        except services.FindingNeedsReason as error:
            raise serializers.ValidationError({"reason": ["Say why the finding is dismissed."]}) from error
        return Response(self.get_serializer(finding).data)

    @extend_schema(responses=DecisionLineSerializer(many=True))
    @action(detail=True, filterset_class=None, pagination_class=None)
    def history(self, request: Request, pk: str) -> Response:
        """Return what was decided of a finding, the latest first."""
        lines = queries.history_of(self.get_object(), rights.user_of(request))
        return Response(DecisionLineSerializer(lines, many=True).data)

    @extend_schema(request=None, responses={201: VerificationSerializer})
    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        """Launch the smallest A/B campaign that proves the finding: both settings in turn until it decides."""
        verification = services.verify_finding(
            finding=self.get_object(), user=rights.user_of(request), now=timezone.now()
        )
        return Response(VerificationSerializer(verification).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=OfferSerializer(many=True))
    @action(detail=True, filterset_class=None, pagination_class=None, url_path="proposals")
    def offers(self, request: Request, pk: str) -> Response:
        """Return the experiments that a finding proposes: for what is unmeasured, and to tell alternatives apart."""
        return Response(OfferSerializer(proposals.offers_of(self.get_object()), many=True).data)

    @extend_schema(request=DraftOfSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def draft(self, request: Request, pk: str) -> Response:
        """Make a draft campaign of what the finding proposes."""
        finding, wish = self._wish(DraftOfSerializer)
        campaign = proposals.create_draft(finding=finding, user=rights.user_of(request), now=timezone.now(), **wish)
        serializer = CampaignSerializer(campaign, context={"request": request})
        return Response(serializer.data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=CalibrationSerializer)
    @action(detail=False, filterset_class=None, pagination_class=None)
    def calibration(self, request: Request) -> Response:
        """Return how the predictions of the person's teams turned out."""
        return Response(CalibrationSerializer(queries.calibration_for(rights.user_of(request))).data)

    def _wish(self, kind: type[serializers.Serializer]) -> tuple[Finding, dict[str, Any]]:
        """Return the finding, which the person may decide about, and what is asked of it."""
        finding = self.get_object()
        rights.require(self.request.user, finding.team, Role.OPERATOR)
        wish = kind(data=self.request.data)
        wish.is_valid(raise_exception=True)
        return finding, wish.validated_data
