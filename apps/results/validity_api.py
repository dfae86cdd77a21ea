"""REST: a trial marked invalid, and that undone."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.campaigns import queries
from apps.campaigns.models import Trial
from apps.core.rest import APIView
from apps.results import validity


class MarkSerializer(serializers.Serializer):
    """Why the trial's figures are not to be believed."""

    reason = serializers.CharField(max_length=validity.LONGEST_REASON)


class ValiditySerializer(serializers.Serializer):
    """Whether a person marked the trial invalid: when, who (`invalid_told_by` as an archive says) and why."""

    trial = serializers.IntegerField(source="pk")
    invalid = serializers.SerializerMethodField()
    invalid_at = serializers.DateTimeField(allow_null=True)
    invalid_by = serializers.CharField(source="invalid_by.username", default=None, allow_null=True)
    invalid_told_by = serializers.CharField()
    invalid_reason = serializers.CharField()

    def get_invalid(self, trial: Trial) -> bool:
        """Return whether it is marked."""
        return trial.invalid_at is not None


class TrialValidity(APIView):
    """What a person says of a trial's validity; its figures stay as they are."""

    @extend_schema(operation_id="trials_validity", responses=ValiditySerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the trial's mark; 404 for a trial that one may not see."""
        return Response(ValiditySerializer(self._trial(pk)).data)

    @extend_schema(operation_id="trials_mark_invalid", request=MarkSerializer, responses=ValiditySerializer)
    def put(self, request: Request, pk: int) -> Response:
        """Leave the trial's figures out of all statistics."""
        wish = MarkSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        trial = validity.mark_invalid(
            trial=self._trial(pk),
            user=rights.user_of(request),
            reason=wish.validated_data["reason"],
            now=timezone.now(),
        )
        return Response(ValiditySerializer(trial).data)

    @extend_schema(operation_id="trials_unmark_invalid", responses={200: ValiditySerializer})
    def delete(self, request: Request, pk: int) -> Response:
        """Count them again."""
        trial = validity.unmark_invalid(trial=self._trial(pk), user=rights.user_of(request))
        return Response(ValiditySerializer(trial).data)

    def get_subject(self) -> Trial:
        """Return the trial that is marked; 404 for one that one may not see."""
        return self._trial(self.kwargs["pk"])

    def _trial(self, pk: int) -> Trial:
        trials = queries.trials_for(rights.user_of(self.request)).select_related("campaign__team", "invalid_by")
        return get_scoped_or_404(trials, pk=pk)
