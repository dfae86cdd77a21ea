"""How the analysis of a campaign goes, and the rules that failed in it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.campaigns.models import Campaign
from apps.core.models import BoundedJSONField


class Analysis(models.Model):
    """The latest analysis of a campaign: when a worker began it and when it ended, the last failed one included.

    `attempts` are those since it was last asked for; `asked_with` is the product and the rules that were asked;
    `for_others` whether others than the team could read the campaign then: they hear of no other campaign of it;
    `error` is a message if it failed as a whole, and a failing one is tried again at `next_at`, if that is set.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="analysis")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    asked_with = models.CharField(max_length=60, blank=True)
    for_others = models.BooleanField(default=False, db_default=False)
    has_failed = models.BooleanField(default=False)
    error = BoundedJSONField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "tuning"
        ordering = ["-began_at", "-pk"]
        verbose_name = _("analysis")
        verbose_name_plural = _("analyses")
        indexes = [
            models.Index(fields=["campaign"], name="tuning_failed_analyses", condition=Q(has_failed=True)),
        ]

    def __str__(self) -> str:
        return str(self.campaign)


class RuleFailure(models.Model):
    """A rule that failed in the latest analysis of a campaign: its version, what it said, and where.

    `places` is for how many pairs of ends (or 1 for the whole campaign), `subject` names the first of them.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="rule_failures")
    rule = models.CharField(_("rule"), max_length=50)
    rule_version = models.PositiveSmallIntegerField(_("version"))
    error = models.CharField(_("error"), max_length=300)
    subject = models.CharField(max_length=200, blank=True)
    places = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField(_("first failed"))
    last_at = models.DateTimeField(_("last failed"))

    class Meta:
        app_label = "tuning"
        ordering = ["rule"]
        verbose_name = _("failed rule")
        verbose_name_plural = _("failed rules")
        constraints = [models.UniqueConstraint(fields=["campaign", "rule"], name="one_failure_per_rule")]

    def __str__(self) -> str:
        return f"{self.rule}: {self.error}"
