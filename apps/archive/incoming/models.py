"""Archives on their way in."""

from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign, Outliving
from apps.core.expiry import Expiring
from apps.core.models import KIB, BoundedJSONField


class IncomingArchive(Outliving, Expiring, TeamOwned):
    """An archive that somebody sent, and what became of it.

    `preview` {"campaign", "name", "team", "counts", "totals" {list: how many}, "nodes" [names], "new" [[kind, name]],
    "differing" [[kind, name, [fields]]], "new_tools" and "differing_tools" [[slug, name, command, server's command]],
    "people" [{"username", "name"}]} is what was found in it, of each list the first ones. `choices` {"nodes",
    "keep_ids"} are as `archive.campaigns.store.Choices` has them. `done` of `total` is the progress of the state it
    is in, which a worker began at `alive_at`. `reason` says why it is refused, as a Message.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be looked through")
        CHECKING = "checking", _("being looked through")
        READY = "ready", _("to be decided")
        AGREED = "agreed", _("waiting to be stored")
        STORING = "storing", _("being stored")
        DONE = "done", _("imported")
        REFUSED = "refused", _("refused")
        EXPIRED = "expired", _("expired")

    WORK = "take_archives"
    # In these a worker has something to do, or is at it.
    DUE_STATES = (State.WAITING, State.AGREED)
    BUSY_STATES = (State.CHECKING, State.STORING)
    WORKING_STATES = (*DUE_STATES, *BUSY_STATES)
    # In these a person has, unless nothing was found in it, and it expires if nobody does.
    UNDECIDED_STATES = (State.READY, State.REFUSED)

    name = models.CharField(_("file"), max_length=200)
    size = models.PositiveBigIntegerField(_("size"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    preview = BoundedJSONField(most_bytes=1024 * KIB, default=dict)
    choices = BoundedJSONField(most_bytes=256 * KIB, default=dict)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    alive_at = models.DateTimeField(null=True)
    reason = BoundedJSONField(most_bytes=16 * KIB, null=True)
    campaign = models.ForeignKey(
        Campaign,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="incoming_archives",
        verbose_name=_("campaign"),
    )

    class Meta:
        db_table = "reports_incomingarchive"
        ordering = ["-created_at", "-pk"]
        verbose_name = _("archive")
        verbose_name_plural = _("archives")
        indexes = [
            models.Index(
                fields=["alive_at"],
                name="archives_to_do",
                condition=Q(state__in=["waiting", "checking", "agreed", "storing"]),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("exports:incoming", args=[self.pk])

    @property
    def path(self) -> Path:
        """Return where the file is kept until it is imported or given up."""
        return Path(settings.VAR_DIR) / "archives" / f"{self.pk}.zip"

    @property
    def is_undecided(self) -> bool:
        """Say whether a person may decide on it: it was looked through, and its file is kept."""
        return super().is_undecided and bool(self.preview)

    @property
    def percent(self) -> int:
        """Return how much of the present state is done."""
        return min(100, 100 * self.done // self.total) if self.total else 0
