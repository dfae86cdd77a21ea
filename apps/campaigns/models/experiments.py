"""An experiment: one tool, the nodes of its roles, and a sweep."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.campaigns.models.adaptation import Adaptive
from apps.campaigns.models.campaigns import Campaign
from apps.core.models import KIB, BoundedJSONField, TimeStamped
from apps.core.names import check_seen
from apps.testbeds.models import Cluster, FileSystem, Node


class Experiment(Adaptive, TimeStamped):
    """One benchmark tool and a sweep over its parameters.

    `fixed` {parameter: text}, `factors` [{"name", "expression"}] in order, `zips` [[name, ...]], `exclusions` [text]:
    texts as the user wrote them, which `apps.bench.sweep` reads.

    One with an `after` waits for that experiment's trials to end. Its texts may then be formulas over what was
    measured there (`apps.bench.sweep.references`); `resolved` {parameter: text} keeps what they came to.
    """

    held_under = ("campaign",)

    class Order(models.TextChoices):
        AS_GIVEN = "as-given", _("as given")
        RANDOMISED = "randomised", _("randomised within each repetition")

    class Stage(models.TextChoices):
        DEFINED = "defined", _("defined")
        WAITING = "waiting", _("waiting")
        STARTED = "started", _("started")
        REFUSED = "refused", _("not started")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="experiments")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(_("name"), max_length=200, validators=[check_seen])
    tool = models.CharField(_("tool"), max_length=50)
    fixed = BoundedJSONField(_("fixed parameters"), most_bytes=16 * KIB, default=dict, blank=True)
    factors = BoundedJSONField(_("factors"), most_bytes=32 * KIB, default=list, blank=True)
    zips = BoundedJSONField(_("zipped factors"), most_bytes=8 * KIB, default=list, blank=True)
    exclusions = BoundedJSONField(_("exclusions"), most_bytes=16 * KIB, default=list, blank=True)
    repetitions = models.PositiveSmallIntegerField(
        _("repetitions"), default=3, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    warmups = models.PositiveSmallIntegerField(_("warm-up runs"), default=0, validators=[MaxValueValidator(100)])
    order = models.CharField(_("order"), max_length=12, choices=Order.choices, default=Order.RANDOMISED)
    seed = models.PositiveIntegerField(_("seed of the random order"), default=1)
    max_attempts = models.PositiveSmallIntegerField(
        _("attempts at most"), default=3, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    retry_wait_s = models.PositiveIntegerField(_("wait before a retry"), default=5)
    file_system = models.ForeignKey(
        FileSystem,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="experiments",
        verbose_name=_("file system"),
    )
    context = models.BooleanField(_("route, RTT and loss before and after each run"), default=True)
    after = models.ForeignKey(
        "self",
        on_delete=models.RESTRICT,
        null=True,
        blank=True,
        related_name="followers",
        verbose_name=_("waits for"),
    )
    resolved = BoundedJSONField(most_bytes=16 * KIB, default=dict, blank=True, editable=False)
    # Of a publication: {"trends", "ratios"} that it prints without the figures, as `apps.bench.rules.base` has them.
    printed = BoundedJSONField(most_bytes=64 * KIB, default=dict, blank=True, editable=False)
    # When its trials were made; null before, also while it waits for another experiment.
    expanded_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Why no trials could be made of it once its turn had come: {"msgid", "params"}.
    refusal = BoundedJSONField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["position", "id"]
        verbose_name = _("experiment")
        verbose_name_plural = _("experiments")

    def __str__(self) -> str:
        return self.name

    @property
    def stage(self) -> "Experiment.Stage":
        """Return where the experiment stands: only defined, waiting for another, started, or impossible to start."""
        if self.refusal:
            return self.Stage.REFUSED
        if not self.campaign.launched_at:
            return self.Stage.DEFINED
        return self.Stage.WAITING if self.after_id and not self.expanded_at else self.Stage.STARTED

    @property
    def dependent(self) -> Campaign:
        """Return what breaks if the file system goes."""
        return self.campaign


class ExperimentRole(models.Model):
    """Who plays a role: nodes, or a cluster whose members take it in turn."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="roles")
    role = models.CharField(max_length=32)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, null=True, blank=True, related_name="experiment_roles")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.PROTECT, null=True, blank=True, related_name="experiment_roles"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(node__isnull=True) ^ Q(cluster__isnull=True),
                name="role_is_played_by_node_or_cluster",
            )
        ]

    @property
    def dependent(self) -> Campaign:
        """Return what breaks if the node or the cluster goes."""
        return self.experiment.campaign
