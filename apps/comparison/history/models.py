"""What people say of changes in histories."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign
from apps.core.models import BoundedJSONField, BoundedTextField


class ChangePoint(TeamOwned):
    """What a person says of a change of level in a history: that it is real, why it happened, or that it is none.

    `key` names the history (`apps.comparison.history.series.Subject.key`); `campaign` is the first of the new level,
    `before` and `after` are the levels as they were found when it was decided.
    """

    class State(models.TextChoices):
        CONFIRMED = "confirmed", _("confirmed")
        EXPLAINED = "explained", _("explained")
        DISMISSED = "dismissed", _("dismissed")

    key = models.CharField(max_length=40)
    tool = models.CharField(_("tool"), max_length=50)
    metric = models.CharField(_("metric"), max_length=50)
    roles = BoundedJSONField()
    parameters = BoundedJSONField()
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="change_points")
    before = models.FloatField()
    after = models.FloatField()
    state = models.CharField(_("state"), max_length=10, choices=State.choices)
    explanation = BoundedTextField(_("explanation"), blank=True, max_length=2000)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="change_points"
    )
    decided_at = models.DateTimeField()

    class Meta:
        db_table = "results_changepoint"
        ordering = ["decided_at", "pk"]
        verbose_name = _("change-point")
        verbose_name_plural = _("change-points")
        constraints = [
            models.UniqueConstraint(fields=["team", "key", "campaign"], name="one_decision_per_change_point")
        ]
