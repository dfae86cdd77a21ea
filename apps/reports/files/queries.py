"""Reads of files: those of editions that a person sees, and the person's own of drafts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.reports import queries
from apps.reports.files import services
from apps.reports.files.formats import FORMATS, Format
from apps.reports.models import Edition, Rendering, Report
from apps.testbeds.queries.readers import of_own_nodes


@dataclass(frozen=True)
class FormatOffer:
    """A format, the file there is or will be in it, and how many files are before that one, at least."""

    format: Format
    rendering: Rendering | None
    before: int = 0


def renderings_for(user: User | AnonymousUser) -> QuerySet[Rendering]:
    """Return the files a person may have, the latest asked for first."""
    readable = queries.editions_for(user).order_by()
    own = of_own_nodes(readable, user, "report").values("pk")
    condition = Q(edition__in=own, for_others=False)
    condition |= Q(edition__in=readable.exclude(pk__in=own).values("pk"), for_others=True)
    if isinstance(user, User):
        reports = queries.reports_for(user).order_by().values("pk")
        condition |= Q(edition=None, requested_by=user, report__in=reports)
    rows = Rendering.objects.select_related("report", "edition", "requested_by").defer("edition__canonical")
    return rows.filter(condition)


def offers_of(
    report: Report, edition: Edition | None, user: User | AnonymousUser, *, now: datetime
) -> Sequence[FormatOffer]:
    """Return every format with the file of an edition, or the person's own of the report's draft."""
    renderings = {
        rendering.format: rendering for rendering in renderings_for(user).filter(report=report, edition=edition)
    }
    before = {name: services.before(rendering, now=now) for name, rendering in renderings.items()}
    return [FormatOffer(kind, renderings.get(name), before.get(name, 0)) for name, kind in FORMATS.items()]
