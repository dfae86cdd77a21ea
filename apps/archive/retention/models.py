"""The rules of retention."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned


class RetentionRule(TeamOwned):
    """What becomes of one kind of data of a team's runs `days` after they ended.

    What ended before `done_at`, or just then with a number up to `done_run`, has been seen to already; of runs that
    came after their end, those that came before `arrival_at`, or just then with a number up to `arrival_run`. A
    worker began with what is due at `begun_at`, and is not through with it yet.
    """

    class Kind(models.TextChoices):
        SERIES = "series", _("time series of results")
        OUTPUT = "output", _("raw output, collected files and what the kernel said")

    class Action(models.TextChoices):
        PACK = "pack", _("pack: smaller, and read as before")
        DROP = "drop", _("drop for good")

    kind = models.CharField(_("what"), max_length=6, choices=Kind.choices)
    days = models.PositiveIntegerField(
        _("days after the run"), validators=[MinValueValidator(1), MaxValueValidator(36500)]
    )
    action = models.CharField(_("what happens to it"), max_length=4, choices=Action.choices, default=Action.PACK)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    begun_at = models.DateTimeField(null=True, editable=False)
    done_at = models.DateTimeField(null=True, editable=False)
    done_run = models.BigIntegerField(default=0, editable=False)
    arrival_at = models.DateTimeField(null=True, editable=False)
    arrival_run = models.BigIntegerField(default=0, editable=False)
    runs_done = models.PositiveBigIntegerField(default=0, editable=False)
    bytes_freed = models.PositiveBigIntegerField(default=0, editable=False)

    class Meta:
        db_table = "results_retentionrule"
        ordering = ["kind"]
        constraints = [models.UniqueConstraint(fields=["team", "kind"], name="one_retention_rule_per_kind")]
        verbose_name = _("retention rule")
        verbose_name_plural = _("retention rules")
