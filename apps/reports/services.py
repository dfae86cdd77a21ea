"""Writes: a report begun, changed and frozen."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from apps.accounts import scoping
from apps.accounts.models import Role, Team, User
from apps.campaigns.models import Campaign
from apps.reports import serialising
from apps.reports.document import Document
from apps.reports.models import Edition, Report

# A report's title as lists show it; the document has the whole.
_TITLE = 250


@transaction.atomic
def begin_report(*, campaign: Campaign, user: User, language: str) -> Report:
    """Return the campaign's report in a language, a new one if there is none yet."""
    scoping.require(user, campaign.team, Role.OPERATOR)
    report, _made = Report.objects.get_or_create(
        campaign=campaign,
        language=language,
        defaults={"team": campaign.team, "created_by": user, "title": campaign.name[:_TITLE]},
    )
    return report


@transaction.atomic
def begin_management_report(
    *, team: Team, user: User, language: str, title: str, selection: dict[str, Any]
) -> Report:
    """Return a new management report of a team over what `selection` says."""
    scoping.require(user, team, Role.OPERATOR)
    return Report.objects.create(
        kind=Report.Kind.MANAGEMENT,
        team=team,
        created_by=user,
        language=language,
        title=title[:_TITLE],
        selection=selection,
    )


@transaction.atomic
def keep_edition(
    *, report: Report, document: Document, user: User | None, now: datetime, note: str = "", **imported: Any
) -> Edition:
    """Return a new edition of a report that holds a document as it is.

    `imported` are the number and the permanent id of an edition that was frozen elsewhere.
    """
    Report.objects.select_for_update().get(pk=report.pk)
    last = report.editions.aggregate(last=Max("number"))["last"] or 0
    canonical = serialising.canonical(serialising.as_json(document))
    made = Edition.objects.create(
        report=report,
        title=document.title[:_TITLE],
        language=document.language,
        canonical=canonical,
        checksum=serialising.checksum(canonical),
        rests_on=list(document.rests_on),
        note=note,
        created_by=user,
        created_at=now,
        **({"number": last + 1} | imported),
    )
    report.title = made.title
    report.save(update_fields=["title", "updated_at"])
    return made
