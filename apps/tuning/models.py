"""Findings: what a rule concluded, from which trials, and what to change."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign, Experiment, Trial


class Finding(TeamOwned):
    """A stored `apps.bench.rules` finding; texts are msgids with values, translated where they are shown."""

    class State(models.TextChoices):
        NEW = "new", _("new")
        ACCEPTED = "accepted", _("accepted")
        DISMISSED = "dismissed", _("dismissed")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="findings")
    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, null=True, blank=True, related_name="findings"
    )
    # Which pair of ends it speaks of, e.g. "client=3,server=4"; one finding a rule and subject.
    subject = models.CharField(max_length=200, blank=True)
    rule = models.CharField(max_length=50)
    rule_version = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.NEW)
    state_reason = models.TextField(_("reason"), blank=True)
    title = models.JSONField()
    details = models.JSONField()
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=10, blank=True)
    change = models.TextField(blank=True)
    undo = models.TextField(blank=True)
    confidence = models.FloatField()
    trials = models.ManyToManyField(Trial, related_name="findings")

    class Meta:
        ordering = ["-created_at", "id"]
        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "experiment", "subject", "rule"],
                name="one_finding_per_rule_and_subject",
                nulls_distinct=False,
            )
        ]
