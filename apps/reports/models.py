"""Reports, what their authors changed of them, and the editions in which they were frozen."""

import secrets
from copy import copy
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns import brought_in
from apps.campaigns.brought_in import BroughtIn
from apps.campaigns.models import Campaign, Outliving
from apps.core.models import KIB, BoundedJSONField, Limited, LineField
from apps.reports import serialisation, withheld
from apps.reports.document import Document
from apps.reports.files.models import Rendering
from apps.reports.schedules.models import Delivery, Schedule

__all__ = [
    "Delivery",
    "Edition",
    "EditionIsFrozen",
    "EditionSource",
    "Rendering",
    "Report",
    "Schedule",
    "new_permanent_id",
]

# Crockford's base 32: no letter that is taken for a digit.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_LONGEST_ID = 20


class EditionIsFrozen(TypeError):
    """An edition never changes: freeze a new one."""


def new_permanent_id() -> str:
    """Return a random id to be cited and typed, such as "r-7k3m-9qxt-2v4h"."""
    groups = ("".join(secrets.choice(_LETTERS) for _place in range(4)) for _group in range(3))
    return "-".join(("r", *groups))


def _campaign_in(ref: object) -> str:
    """Return the campaign's permanent id in a reference such as "trial:7k3m-9qxt-2v4h/2/14", "" without any."""
    kind, _colon, rest = str(ref).partition(":")
    permanent_id = rest.partition("/")[0]
    return "" if kind in ("http", "https") or len(permanent_id) > _LONGEST_ID else permanent_id


class Report(Outliving, TeamOwned):
    """A report in one language, built anew whenever it is read; `edits` (`apps.reports.author_edits`) lie over it.

    One of a campaign has a `campaign`, until that is deleted; a management report has a `selection`
    (`apps.reports.overview`).
    """

    class Kind(models.TextChoices):
        CAMPAIGN = "campaign", _("campaign report")
        MANAGEMENT = "management", _("management report")

    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.CAMPAIGN)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.SET_NULL, null=True, blank=True, related_name="reports", verbose_name=_("campaign")
    )
    baseline = models.ForeignKey(
        Campaign, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("compared with")
    )
    language = models.CharField(_("language"), max_length=5, choices=settings.LANGUAGES)
    # As it was when the report was last frozen or made: what a list shows without building it.
    title = LineField(_("title"), max_length=250, blank=True)
    selection = BoundedJSONField(default=dict, blank=True, editable=False)
    edits = BoundedJSONField(most_bytes=256 * KIB, default=dict, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-updated_at", "-pk"]
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "language"],
                name="one_report_a_campaign_and_language",
                condition=Q(campaign__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def latest_number(self) -> int:
        """Return the number of its latest edition, 0 if it has none."""
        return self.editions.aggregate(latest=models.Max("number"))["latest"] or 0

    def get_absolute_url(self) -> str:
        """Return the address of the report's page."""
        return reverse("reports:detail", args=[self.pk])


class Edition(Limited):
    """A report as it was frozen; neither this class nor the database lets it change.

    `canonical` is the document's canonical JSON (`apps.reports.serialisation`), `checksum` its SHA-256 (hexadecimal),
    `rests_on` the permanent ids of what it was made from. `brought_in` of one that an archive brought is `by` whom
    and `at` what time it came, and the permanent `id` and the author (`made_by`) that it says; {} of what was frozen
    here.
    """

    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="editions", verbose_name=_("report"))
    number = models.PositiveIntegerField(_("edition"))
    permanent_id = models.CharField(_("permanent id"), max_length=20, unique=True, default=new_permanent_id)
    title = models.CharField(_("title"), max_length=250)
    language = models.CharField(_("language"), max_length=5, choices=settings.LANGUAGES)
    canonical = models.TextField()
    checksum = models.CharField(_("checksum"), max_length=64)
    rests_on = BoundedJSONField(most_bytes=256 * KIB, default=list)
    note = LineField(_("what is new"), max_length=300, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("frozen"))
    brought_in = BoundedJSONField(most_bytes=8 * KIB, default=dict, db_default={}, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("edition")
        verbose_name_plural = _("editions")
        constraints = [models.UniqueConstraint(fields=["report", "number"], name="one_edition_of_a_number")]

    def __str__(self) -> str:
        return f"{self.title} ({self.number})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new edition; EditionIsFrozen for one that is stored."""
        if not self._state.adding:
            raise EditionIsFrozen(self.permanent_id)
        with transaction.atomic():
            super().save(*args, **kwargs)
            permanent_ids = {self.report.of_campaign, *(_campaign_in(ref) for ref in self._told)} - {""}
            EditionSource.objects.bulk_create(
                EditionSource(edition=self, of_campaign=name) for name in sorted(permanent_ids)
            )

    def get_absolute_url(self) -> str:
        """Return the address of the edition's page, which never changes."""
        return reverse("reports:edition", args=[self.permanent_id])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refuse: EditionIsFrozen, since others may have cited it."""
        raise EditionIsFrozen(self.permanent_id)

    @property
    def arrival(self) -> BroughtIn | None:
        """Return who brought it in from an archive; None of what was frozen here."""
        return brought_in.read(self.brought_in)

    @property
    def _told(self) -> list[str]:
        """Return what else its readers have to see: nothing that an archive names."""
        return [] if self.brought_in else self.rests_on

    @property
    def document(self) -> Document:
        """Return what was frozen."""
        return serialisation.from_text(self.canonical)

    def for_others(self) -> Self:
        """Return it as readers of other teams get it, with the checksum of that if it is intact."""
        edition = copy(self)
        is_intact = edition.is_intact
        edition.canonical = withheld.for_others(edition.canonical)
        if is_intact:
            edition.checksum = serialisation.checksum(edition.canonical)
        return edition

    @property
    def is_intact(self) -> bool:
        """Return whether the text is the one that the checksum was taken of."""
        return serialisation.checksum(self.canonical) == self.checksum


class EditionSource(models.Model):
    """A campaign that an edition tells of, by its permanent id: only who sees all of them reads the edition."""

    edition = models.ForeignKey(Edition, on_delete=models.CASCADE, related_name="sources")
    of_campaign = models.CharField(max_length=20, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["edition", "of_campaign"], name="each_source_once")]

    def __str__(self) -> str:
        return self.of_campaign
