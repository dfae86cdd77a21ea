"""Writes: a report begun, changed and frozen."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.core import bounded
from apps.core.errors import ConflictError
from apps.core.versions import hold
from apps.reports import author_edits, drafts, readiness, serialisation, truthful
from apps.reports.document import Document
from apps.reports.models import Edition, Report

# A report's title as lists show it; the document has the whole.
_TITLE = 250
_NOTE = 300


@transaction.atomic
def begin_report(*, campaign: Campaign, user: User, language: str) -> Report:
    """Return the campaign's report in a language, a new one if there is none yet."""
    rights.require(user, campaign.team, Role.OPERATOR)
    report, _is_new = Report.objects.get_or_create(
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
    rights.require(user, team, Role.OPERATOR)
    return Report.objects.create(
        kind=Report.Kind.MANAGEMENT,
        team=team,
        created_by=user,
        language=language,
        title=title[:_TITLE],
        selection=selection,
    )


@transaction.atomic
def edit_report(*, report: Report, user: User, edits: object) -> Report:
    """Replace what an author changed of a report: `edits` as `apps.reports.author_edits` has them."""
    rights.require(user, report.team, Role.OPERATOR)
    locked = Report.objects.select_for_update(of=("self",)).select_related("team").get(pk=report.pk)
    locked.edits = author_edits.check(edits)
    # Management reports are called as they were begun, unless their author says otherwise.
    locked.title = locked.edits.get("title") or (locked.campaign.name[:_TITLE] if locked.campaign else locked.title)
    locked.save(update_fields=["edits", "title", "updated_at"])
    return locked


@transaction.atomic
def change_edits(*, report: Report, user: User, change: Callable[[dict[str, Any]], None]) -> Report:
    """Change one thing of what an author edited, whatever others changed meanwhile; `change` alters the edits."""
    rights.require(user, report.team, Role.OPERATOR)
    locked = Report.objects.select_for_update(of=("self",)).select_related("team").get(pk=report.pk)
    edits = deepcopy(locked.edits)
    change(edits)
    return edit_report(report=locked, user=user, edits=edits)


@transaction.atomic
def set_scope(*, report: Report, user: User, baseline: Campaign | None, also: Sequence[Campaign]) -> Report:
    """Set what a campaign's report compares with, and which further campaigns it tells of."""
    hold(report)
    rights.require(user, report.team, Role.OPERATOR)
    _require_visible([*([baseline] if baseline else []), *also], user)
    if len(also) > drafts.MOST_ALSO:
        text = _("At most %(most)s further campaigns stand in one report.")
        raise ValidationError({"also": [text % {"most": drafts.MOST_ALSO}]})
    report.baseline = baseline
    report.selection = {"also": [campaign.permanent_id for campaign in also if campaign.pk != report.campaign_id]}
    report.save(update_fields=["baseline", "selection", "updated_at"])
    return report


class ReportChange(TypedDict, total=False):
    """What can be changed of a report: all that its author edited, its baseline, further campaigns it tells of."""

    edits: dict[str, Any]
    baseline: Campaign | None
    also: Sequence[Campaign]


@transaction.atomic
def change_report(*, report: Report, user: User, **change: Unpack[ReportChange]) -> None:
    """Change what is given of a report."""
    hold(report)
    rights.require(user, report.team, Role.OPERATOR)
    if "edits" in change:
        edit_report(report=report, user=user, edits=change["edits"])
    if {"baseline", "also"} & change.keys():
        also = drafts.campaigns_of(report, user)[1:] if "also" not in change else change["also"]
        baseline = change.get("baseline", report.baseline)
        set_scope(report=report, user=user, baseline=baseline, also=also)


def freeze_report(
    *,
    report: Report,
    user: User,
    now: datetime,
    note: str = "",
    is_corrected: bool = False,
    after: int | None = None,
) -> Edition:
    """Return a new edition of a report as it is now; ValidationError if what it is of is gone.

    It is a ConflictError while conclusions are still to be drawn from what it tells of, or some could not be; and a
    SentencesRefusedError if a sentence does not agree with the report's own tables, unless `is_corrected` lets what
    the tables bear out stand in its place. `after` is as `keep_edition` has it.
    """
    rights.require(user, report.team, Role.OPERATOR)
    readiness.require_concluded(report, user, now)
    # Built before anything is locked: that may take seconds.
    settle = truthful.corrected if is_corrected else truthful.require_true
    document = drafts.build(report, user, now=now, is_strict=True, settle=settle)
    note = note.strip()[:_NOTE]
    return keep_edition(report=report, document=document, user=user, now=now, note=note, after=after)


@transaction.atomic
def delete_report(*, report: Report, user: User) -> None:
    """Delete a report that was never frozen; ConflictError if it was, for its editions stay."""
    rights.require(user, report.team, Role.OPERATOR)
    if report.editions.exists():
        raise ConflictError(_("It has editions, which stay for ever: it cannot be deleted."))
    if report.schedules.exists():
        raise ConflictError(_("A schedule delivers it: delete the schedule first."))
    report.delete()


def _require_visible(campaigns: Sequence[Campaign], user: User) -> None:
    ids = {campaign.pk for campaign in campaigns}
    if visible(Campaign.objects.filter(pk__in=ids, deleting_at=None), user).count() != len(ids):
        raise ValidationError({"also": [_("There is no such campaign that you may see.")]})


@transaction.atomic
def keep_edition(
    *,
    report: Report,
    document: Document,
    user: User | None,
    now: datetime,
    note: str = "",
    after: int | None = None,
) -> Edition:
    """Return a new edition of a report that holds a document as it is.

    `after` is the number of the latest edition that the user saw when they asked for it: what they have frozen since
    then under the same note is returned instead, for editions stay for ever, and a form is easily sent twice.
    """
    locked = Report.objects.select_for_update().get(pk=report.pk)
    if after is not None:
        own = report.editions.filter(number__gt=after, created_by=user, note=note)
        if first := own.order_by("number").first():
            return first
    canonical = serialisation.canonical(serialisation.as_json(document))
    edition = Edition.objects.create(
        report=report,
        title=document.title[:_TITLE],
        language=document.language,
        canonical=canonical,
        checksum=serialisation.checksum(canonical),
        rests_on=_references(document),
        note=note,
        created_by=user,
        created_at=now,
        number=report.latest_number + 1,
    )
    if (locked.title, locked.edits) == (report.title, report.edits):
        # Else somebody called it something else while this was made.
        report.title = edition.title
        report.save(update_fields=["title", "updated_at"])
    return edition


def _references(document: Document) -> list[str]:
    """Return what a document rests on, the first of it where that is too long: all of it stands in the document.

    Of each campaign one reference comes first, for who may read the edition is asked of these.
    """
    references = list(document.rests_on)
    if not bounded.too_long(Edition, rests_on=references):
        return references
    first: dict[str, str] = {}
    for reference in references:
        first.setdefault(reference.partition(":")[2].partition("/")[0], reference)
    fitting = bounded.first_that_fit(Edition, "rests_on", list(dict.fromkeys([*first.values(), *references])))
    if len(fitting) < len(first):
        raise ValidationError(_("The report rests on too many campaigns to be frozen: choose a shorter time."))
    return fitting
