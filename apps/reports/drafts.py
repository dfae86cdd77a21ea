"""A report's document as it is now: built anew from the database, with its author's edits."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.core.exceptions import ValidationError
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.comparison.comparisons import queries
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.state import read_text
from apps.reports import author_edits, overview
from apps.reports import campaign as campaigns
from apps.reports.campaign import swept
from apps.reports.document import Block, Document, Paragraph, Section
from apps.reports.models import Report
from apps.reports.overview.selection import Selection

# As many further campaigns may be told of in a campaign's report.
MOST_ALSO = 40


def build(
    report: Report,
    user: User,
    *,
    trials: bool = True,
    now: datetime | None = None,
    is_strict: bool = False,
    settle: Callable[[Document], Document] = lambda document: document,
) -> Document:
    """Return the document of a report, of all that the user may see, with the author's edits.

    Without `trials` the appendix of every trial is left out; periods that move are as they are at `now`, this moment
    unless given. A section that cannot be computed says so; with `is_strict` that is a ConflictError. ValidationError
    if what it is of is gone. `settle` gets all that was generated before the author's edits lie over it.
    """
    document = _BUILDERS[report.kind](report, user, trials, now or timezone.now(), is_strict)
    with translation.override(report.language):
        if report.edits.get("views"):
            document = _with_views(document, report, user)
        return replace(author_edits.apply(settle(document), report.edits), is_marked=True)


def campaigns_of(report: Report, user: User) -> list[Campaign]:
    """Return the campaign of a report and the others it tells of, as far as the user may see them."""
    permanent_ids: list[str] = report.selection.get("also", [])
    active = Campaign.objects.filter(deleting_at=None).select_related("team")
    in_sight = visible(active, user)
    also = {item.permanent_id: item for item in in_sight.filter(permanent_id__in=permanent_ids[:MOST_ALSO])}
    main = in_sight.filter(pk=report.campaign_id).first() if report.campaign_id else None
    if main is None:
        raise ValidationError({"campaign": [_("The campaign of this report is gone; its editions stay.")]})
    return [main, *(also[name] for name in permanent_ids if name in also and also[name].pk != main.pk)]


def _of_campaign(report: Report, user: User, trials: bool, now: datetime, is_strict: bool) -> Document:
    in_sight = visible(Campaign.objects.filter(deleting_at=None), user)
    baseline = in_sight.filter(pk=report.baseline_id).first() if report.baseline_id else None
    members = campaigns_of(report, user)
    return campaigns.build(
        members, user=user, language=report.language, baseline=baseline, trials=trials, is_strict=is_strict
    )


def _of_management(report: Report, user: User, trials: bool, now: datetime, is_strict: bool) -> Document:
    return overview.build(
        team=report.team,
        selection=Selection.of(report.selection),
        language=report.language,
        now=now,
        title=report.title,
        is_strict=is_strict,
    )


_BUILDERS: dict[str, Callable[[Report, User, bool, datetime, bool], Document]] = {
    Report.Kind.CAMPAIGN: _of_campaign,
    Report.Kind.MANAGEMENT: _of_management,
}


def _with_views(document: Document, report: Report, user: User) -> Document:
    """Return the document with a section of saved views, each with its figure; before the conclusion."""
    views = {view.pk: view for view in queries.views_for(user).filter(pk__in=report.edits["views"])}
    chosen_views = [views[pk] for pk in report.edits["views"] if pk in views]
    if not chosen_views:
        return document
    parts, references = [], dict.fromkeys(document.rests_on)
    for view in chosen_views:
        block, campaigns = _view(view.name, view.query, report, user)
        parts.append(Section(f"view-{_key(view.name)}", view.name, (block,)))
        references |= dict.fromkeys(f"campaign:{name}" for name in campaigns)
    further = Section(author_edits.VIEWS, _("Further comparisons"), (), tuple(parts))
    keys = [section.key for section in document.sections]
    at = keys.index("conclusion") if "conclusion" in keys else len(keys)
    sections = (*document.sections[:at], further, *document.sections[at:])
    return replace(document, sections=sections, rests_on=tuple(references))


def _key(name: str) -> str:
    """Return the key of a view, which is known by its name: its id is a number of this database."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _view(name: str, query: str, report: Report, user: User) -> tuple[Block, list[str]]:
    """Return the figure of a view, and the permanent ids of the campaigns that it tells of."""
    state, errors = read_text(query)
    if errors or not state.sets:
        return Paragraph((_("What this view compares is gone."),), style="warning"), []
    comparison = compare(gather(choose(state, user, report.team)))
    permanent_ids = sorted({item.campaign.permanent_id for item in comparison.gathering.choice.experiments.values()})
    return swept.figure(f"view-figure-{_key(name)}", comparison, name), permanent_ids
