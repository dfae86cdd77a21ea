"""Findings: what a rule concluded, what people decided of it, and whether measuring again bore it out."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, RECOMMENDATION
from apps.bench.sweep import verification
from apps.campaigns.models import Campaign, Experiment, Outliving, Trial
from apps.core.models import KIB, BoundedJSONField, BoundedTextField, TimeStamped
from apps.tuning.analysis.models import Analysis, RuleFailure
from apps.tuning.fields import LinesField, RecordField

__all__ = ["Analysis", "Decision", "Finding", "RuleFailure", "Verification"]

# Characters: of what a person says, and of the commands that a rule recommends.
LONGEST_REASON = 2000
LONGEST_CHANGE = 20_000
# Of where an archive says that it comes from.
LONGEST_ORIGIN = 200


class Finding(TeamOwned):
    """A stored `apps.bench.rules` finding; texts are msgids with values, translated where they are shown."""

    class Kind(models.TextChoices):
        RECOMMENDATION = RECOMMENDATION, _("recommendation")
        DIAGNOSIS = DIAGNOSIS, _("diagnosis")
        NO_CHANGE = NO_CHANGE, _("no change needed")
        DOUBT = DOUBT, _("doubt")

    class State(models.TextChoices):
        NEW = "new", _("new")
        ACCEPTED = "accepted", _("accepted")
        VERIFIED = "verified", _("verified")
        REFUTED = "refuted", _("refuted")
        DISMISSED = "dismissed", _("dismissed")

    # Those that a person gives; the others only a measurement does.
    DECISIONS = (State.NEW, State.ACCEPTED, State.DISMISSED)

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="findings")
    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, null=True, blank=True, related_name="findings"
    )
    # Which pair of ends it speaks of, e.g. "client=3,server=4"; one finding a rule and subject.
    subject = models.CharField(max_length=200, blank=True)
    # The same as [[role, node id], ...]; empty for what is said of a whole campaign.
    ends = BoundedJSONField(most_bytes=16 * KIB, default=list, blank=True)
    rule = models.CharField(max_length=50)
    rule_version = models.PositiveSmallIntegerField(default=1)
    kind = models.CharField(_("kind"), max_length=14, choices=Kind.choices, default=Kind.RECOMMENDATION)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.NEW)
    state_reason = BoundedTextField(_("reason"), blank=True, max_length=LONGEST_REASON)
    title = BoundedJSONField(most_bytes=16 * KIB)
    details = RecordField()
    value = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=10, blank=True)
    change = LinesField(blank=True, max_length=LONGEST_CHANGE)
    undo = LinesField(blank=True, max_length=LONGEST_CHANGE)
    # Predicted over present rate (or time); null where the rule predicts none.
    predicted_gain = models.FloatField(_("predicted gain"), null=True, blank=True)
    confidence = models.FloatField()
    # Whose archive brought it, in the archive's own words; empty for what the rules concluded here.
    imported_from = models.CharField(
        _("imported from"), max_length=LONGEST_ORIGIN, blank=True, default="", db_default="", editable=False
    )
    trials = models.ManyToManyField(Trial, related_name="findings")

    # Attached by queries.attach_ends: (role, name) pairs.
    end_names: Any
    # Attached by queries.attach_values: the value as people read it.
    value_text: str
    # … and by it, too: "source → destination (client: control)".
    told_ends: Any
    # Attached by queries.attach_flags: the flags of the trials that it rests on, None without any.
    mark: Any
    # Attached where it is drawn: what the rules said.
    draft: Any

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

    @property
    def latest(self) -> "Verification | None":
        """Return the latest verification, of which lists show what was realised."""
        return next(iter(self.verifications.all()), None)

    @property
    def judged_elsewhere(self) -> str:
        """Return from where the word came that it is verified or refuted, empty if that was measured here."""
        if self.state not in (self.State.VERIFIED, self.State.REFUTED):
            return ""
        own = (item for item in self.verifications.all() if not item.imported_from)
        return "" if any(item.verdict == self.state for item in own) else self.imported_from

    @property
    def can_be_verified(self) -> bool:
        """Return whether the rule says what would prove it, of figures that were measured here."""
        return bool(self.details.get("proof")) and not self.campaign.is_published


class Verification(Outliving, TimeStamped):
    """A finding put to the test: a campaign that measures both settings in turn, and what it decided.

    `proof` {"tool", "metric", "now", "then"} is what was measured. Gains are ratios, then over now, with an interval
    of 95 %; `present` and `realised` are the means at either setting, in `unit`.
    """

    class Verdict(models.TextChoices):
        OPEN = "open", _("under way")
        VERIFIED = verification.VERIFIED, _("verified")
        REFUTED = verification.REFUTED, _("refuted")
        UNDECIDED = verification.UNDECIDED, _("undecided")

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="verifications")
    campaign = models.OneToOneField(
        Campaign, on_delete=models.SET_NULL, null=True, blank=True, related_name="verification"
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    proof = BoundedJSONField()
    unit = models.CharField(max_length=10, blank=True)
    higher_is_better = models.BooleanField(null=True, blank=True)
    predicted = models.FloatField(null=True, blank=True)
    predicted_gain = models.FloatField(_("predicted gain"), null=True, blank=True)
    verdict = models.CharField(_("verdict"), max_length=10, choices=Verdict.choices, default=Verdict.OPEN)
    present = models.FloatField(null=True, blank=True)
    realised = models.FloatField(null=True, blank=True)
    gain = models.FloatField(_("realised gain"), null=True, blank=True)
    gain_low = models.FloatField(null=True, blank=True)
    gain_high = models.FloatField(null=True, blank=True)
    pairs = models.PositiveSmallIntegerField(_("pairs"), default=0)
    judged_at = models.DateTimeField(null=True, blank=True)
    # Who asked for it as only an archive says; "" of what was asked for here, or is known to have been.
    told_by = models.CharField(max_length=150, blank=True, default="", db_default="", editable=False)
    # Whose archive brought it; empty for what was measured here, which alone says how predictions turn out here.
    imported_from = models.CharField(
        _("imported from"), max_length=LONGEST_ORIGIN, blank=True, default="", db_default="", editable=False
    )

    class Meta:
        ordering = ["-id"]
        verbose_name = _("verification")
        verbose_name_plural = _("verifications")
        constraints = [
            models.UniqueConstraint(fields=["finding"], name="one_open_verification", condition=Q(verdict="open"))
        ]

    @property
    def agrees(self) -> bool | None:
        """Return whether the predicted gain was within 15 % of the realised one; None while either is unknown."""
        if not self.predicted_gain or not self.gain:
            return None
        return verification.agrees(self.predicted_gain, self.gain)

    @property
    def error(self) -> float | None:
        """Return by which share the prediction was above what was realised (0.1: 10 %), None while unknown."""
        return self.predicted_gain / self.gain - 1 if self.predicted_gain and self.gain else None


class Decision(TimeStamped):
    """A line of a finding's history: who gave it which state and why; without a `user` a measurement did, or a rule.

    `note` {"msgid", "params"} is what the service says itself, `reason` what a person wrote.
    """

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="decisions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # Whose only an archive says it is; "" of what was decided here, or is known to have been.
    told_by = models.CharField(max_length=150, blank=True, default="", db_default="", editable=False)
    verification = models.ForeignKey(
        Verification, on_delete=models.SET_NULL, null=True, blank=True, related_name="decisions"
    )
    earlier = models.CharField(max_length=10, choices=Finding.State.choices)
    state = models.CharField(_("state"), max_length=10, choices=Finding.State.choices)
    reason = BoundedTextField(_("reason"), blank=True, max_length=LONGEST_REASON)
    note = BoundedJSONField(most_bytes=16 * KIB, null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
