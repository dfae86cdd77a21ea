"""REST: reports over many campaigns, and what each is over."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamField, TeamScopedViewSet, team_for_new
from apps.accounts.api.base import refuse_other_team
from apps.core import moments
from apps.core.api import field_errors
from apps.core.names import check_seen
from apps.reports import services
from apps.reports.models import Report
from apps.reports.overview.selection import DATES, PERIODS, Selection, wrong_days
from apps.reports.overview.services import change_selection
from apps.testbeds.models import Site


class ManagementReportSerializer(serializers.ModelSerializer):
    """A report over a team's campaigns; `first` and `last` are days of the period "dates", no `sites` are all."""

    team = TeamField()
    title = serializers.CharField(max_length=250, validators=[check_seen])
    language = serializers.ChoiceField(choices=settings.LANGUAGES)
    period = serializers.ChoiceField(choices=PERIODS)
    first = serializers.DateField(required=False, allow_null=True, validators=[moments.check_day])
    last = serializers.DateField(required=False, allow_null=True, validators=[moments.check_day])
    sites = ScopedRelatedField(queryset=Site.objects.all(), many=True, required=False)
    timezone = serializers.CharField(required=False, help_text="Where days and months begin; your own unless given.")
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = Report
        fields = [
            "id", "team", "title", "language", "period", "first", "last", "sites", "timezone", "created_by",
            "created_at", "updated_at",
        ]  # fmt: skip

    def to_representation(self, instance: Report) -> dict[str, Any]:
        """Return the report with its selection, as it was given."""
        selection = Selection.of(instance.selection)
        return {
            "id": instance.pk,
            "team": instance.team.slug,
            "title": instance.title,
            "language": instance.language,
            "period": selection.period,
            "first": selection.first,
            "last": selection.last,
            "sites": list(selection.sites),
            "timezone": selection.timezone,
            "created_by": instance.created_by.username if instance.created_by else None,
            "created_at": instance.created_at,
            "updated_at": instance.updated_at,
        }

    def validate_timezone(self, name: str) -> str:
        """Refuse a name that is no time zone."""
        if name not in moments.zones():
            raise serializers.ValidationError(_("This is no time zone; use a name such as Asia/Seoul or UTC."))
        return name

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for both days where days are chosen; a report stays in its language."""
        selection = Selection.of(self.instance.selection) if self.instance else Selection()
        period = attrs.get("period", selection.period)
        wrong = (
            wrong_days(attrs.get("first", selection.first), attrs.get("last", selection.last))
            if period == DATES
            else {}
        )
        if wrong:
            raise field_errors(wrong)
        if self.instance and attrs.get("language", self.instance.language) != self.instance.language:
            text = _("A report stays in its language: make another one in this language.")
            raise serializers.ValidationError({"language": [text]})
        return attrs


class ManagementReportViewSet(TeamScopedViewSet):
    """Management reports of the person's teams; what is built of them is at `reports/`, with their editions."""

    queryset = Report.objects.filter(kind=Report.Kind.MANAGEMENT).select_related("team", "created_by").order_by("-pk")
    serializer_class = ManagementReportSerializer
    http_method_names = ["get", "post", "patch", "head", "options"]
    search_fields = ["title"]
    ordering_fields = ["id", "title", "created_at", "updated_at"]

    def perform_create(self, serializer: Any) -> None:
        """Begin a management report of the team given, else of the person's choice."""
        values = dict(serializer.validated_data)
        team = team_for_new(self.request, values)
        serializer.instance = services.begin_management_report(
            team=team,
            user=rights.user_of(self.request),
            language=values["language"],
            title=values["title"],
            selection=self._selection(Selection(timezone=rights.user_of(self.request).timezone), values, team.pk),
        )

    def perform_update(self, serializer: Any) -> None:
        """Change what one is over; its team stays."""
        refuse_other_team(serializer)
        report, values = serializer.instance, serializer.validated_data
        serializer.instance = change_selection(
            report=report,
            user=rights.user_of(self.request),
            title=values.get("title"),
            change=lambda selection: Selection.of(self._selection(selection, values, report.team_id)),
        )

    def _selection(self, selection: Selection, values: dict[str, Any], team: int) -> dict[str, Any]:
        """Return a selection with the given changes; its sites are the team's."""
        sites = values.get("sites")
        if sites and any(site.team_id != team for site in sites):
            raise serializers.ValidationError({"sites": [_("Choose sites of the report's own team.")]})
        return Selection(
            period=values.get("period", selection.period),
            first=values.get("first", selection.first),
            last=values.get("last", selection.last),
            sites=selection.sites if sites is None else tuple(sorted(site.pk for site in sites)),
            timezone=values.get("timezone", selection.timezone),
        ).as_json()
