"""Files that reports are rendered to: each a row that a worker claims, with its state and progress."""

import hashlib
import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from apps.core.models import KIB, BoundedJSONField
from apps.reports.files.formats import CHOICES, FORMATS, Format


class Rendering(models.Model):
    """A report's edition, or its draft (`edition` null), in one format; `progress` in per cent.

    That of an edition is made once for its team, and once `for_others`, who do not get all that it holds.
    A draft's file is for who asked for it, since it tells of all that this person may see. `error` is a message,
    `started_at` names the attempt that is at work, `alive_at` says when it last gave a sign.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        WORKING = "working", _("in progress")
        DONE = "done", _("ready")
        FAILED = "failed", _("failed")

    OPEN_STATES = (State.WAITING, State.WORKING)

    report = models.ForeignKey("reports.Report", on_delete=models.CASCADE, related_name="renderings")
    edition = models.ForeignKey("reports.Edition", on_delete=models.CASCADE, null=True, related_name="renderings")
    format = models.CharField(_("format"), max_length=5, choices=CHOICES)
    for_others = models.BooleanField(default=False, db_default=False, editable=False)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = BoundedJSONField(most_bytes=16 * KIB, null=True, blank=True)
    name = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    size = models.PositiveBigIntegerField(_("size"), null=True)
    checksum = models.CharField(_("checksum"), max_length=64, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_at = models.DateTimeField(_("asked for"))
    started_at = models.DateTimeField(null=True)
    alive_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        app_label = "reports"
        ordering = ["-requested_at", "-pk"]
        verbose_name = _("file")
        verbose_name_plural = _("files")
        constraints = [
            models.UniqueConstraint(
                fields=["edition", "format", "for_others"],
                name="one_rendering_of_an_edition",
                condition=Q(edition__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["report", "format", "requested_by"],
                name="one_rendering_of_a_draft",
                condition=Q(edition__isnull=True),
            ),
            # A large report takes a core and a gigabyte for a minute: the others wait, and trials go on.
            models.UniqueConstraint(fields=["state"], name="one_rendering_at_a_time", condition=Q(state="working")),
        ]
        indexes = [
            models.Index(
                fields=["requested_at"], name="renderings_open", condition=Q(state__in=["waiting", "working"])
            )
        ]

    def __str__(self) -> str:
        return f"{self.report} · {self.format}"

    def get_absolute_url(self) -> str:
        """Return the address at which the file is handed out."""
        return reverse("renderings:file", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Return whether it is still to come."""
        return self.state in self.OPEN_STATES

    @property
    def is_gone(self) -> bool:
        """Return whether it was made, and is not there any more, or of another size: `is_whole` reads it, too."""
        if self.state != self.State.DONE:
            return False
        try:
            return self.path.stat().st_size != self.size
        except FileNotFoundError:
            return True

    @property
    def is_whole(self) -> bool:
        """Return whether its file is there as it was made, by its checksum: a power cut or a disk may leave less."""
        return checksum_of(self.path) == self.checksum != ""

    @property
    def kind(self) -> Format:
        """Return the format."""
        return FORMATS[self.format]

    @property
    def file_name(self) -> str:
        """Return what the file is called where it is kept for good."""
        parts = [slugify(self.report.title)[:80] or "report"]
        parts += [self.edition.permanent_id, str(self.edition.number)] if self.edition else ["draft"]
        return f"{'-'.join(parts)}.{self.format}"

    @property
    def path(self) -> Path:
        """Return where the file is, once it is done."""
        return folder() / f"{self.name.hex}.{self.format}"


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file (hexadecimal), "" if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def folder() -> Path:
    """Return where rendered files are kept."""
    return Path(settings.VAR_DIR) / "reports"
