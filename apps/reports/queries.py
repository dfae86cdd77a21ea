"""Reads of reports and editions."""

from copy import copy

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, F, Func, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from apps.accounts import rights
from apps.accounts.models import User
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.queries.visibility import told_to
from apps.core.models import KIB
from apps.core.octets import OctetLength
from apps.reports.models import Edition, EditionSource, Report
from apps.testbeds.queries.readers import of_own_nodes

# Of a longer text (B) no page and no answer is made.
MOST_SHOWN_BYTES = 4 * 1024 * KIB
TOO_LONG = _("This edition is too long to be shown. Ask for a file of it: JSON has its text, PDF and XLSX all of it.")


def reports_for(user: User) -> QuerySet[Report]:
    """Return the reports of the user's teams on campaigns that the user may (or might, of those gone) see."""
    rows = Report.objects.select_related("team", "campaign", "created_by")
    return rights.visible(rows, user).filter(told_to(user))


def known_reports(user: User) -> QuerySet[Report]:
    """Return the reports that lists name to the user: theirs, and those of editions they may read."""
    readable = editions_for(user).order_by().values("report")
    return Report.objects.filter(Q(pk__in=reports_for(user).order_by().values("pk")) | Q(pk__in=readable))


def with_editions(reports: QuerySet[Report], user: User) -> QuerySet[Report]:
    """Return reports with `edition_count` and `last_frozen` of the editions that the user may read, for lists."""
    readable = Q(editions__in=editions_for(user).order_by().values("pk"))
    annotated = reports.annotate(
        edition_count=Count("editions", filter=readable), last_frozen=Max("editions__created_at", filter=readable)
    )
    # Grouped rows have no order of their own.
    return annotated.order_by("-updated_at", "-pk")


def editions_for(user: User | AnonymousUser) -> QuerySet[Edition]:
    """Return the editions that the user may read, without their texts, the latest first.

    Whoever sees all campaigns whole that an edition tells of reads it (one that is deleted as its tombstone says); of
    what is no campaign's report only members of its team.
    """
    rows = Edition.objects.select_related("report__team", "report__campaign", "created_by").defer("canonical")
    if user.is_authenticated and user.is_superuser:
        return rows
    hidden = EditionSource.objects.filter(edition=OuterRef("pk")).exclude(told_to(user, team="edition__report__team"))
    cited = Q(report__kind=Report.Kind.CAMPAIGN, report__of_campaign__gt="")
    if user.is_authenticated:
        cited |= Q(report__team__in=user.teams.order_by().values("pk"))
    return rows.filter(cited, ~Exists(hidden))


def reads_whole(edition: Edition, user: User | AnonymousUser | None) -> bool:
    """Say whether an edition's reader gets what agents told, and notes, as well; None is the service itself."""
    return of_own_nodes(Edition.objects.filter(pk=edition.pk), user, "report").exists()


def as_read_by(edition: Edition, user: User | AnonymousUser | None) -> Edition:
    """Return an edition with the text and the checksum that its reader gets: no door hands out another one."""
    return edition if reads_whole(edition, user) else edition.for_others()


def as_shown_to(edition: Edition, user: User | AnonymousUser | None) -> Edition:
    """Return an edition as pages and answers have it: as it is read by the user, or without text if it is too long.

    Then it has no checksum either for who would get another text than the frozen one. Its files are made by workers.
    """
    length = Edition.objects.filter(pk=edition.pk).annotate(length=OctetLength("canonical")).values_list("length")
    if length.get()[0] <= MOST_SHOWN_BYTES:
        return as_read_by(edition, user)
    short = copy(edition)
    short.canonical = ""
    if not reads_whole(edition, user):
        short.checksum = ""
    return short


def with_marked(editions: QuerySet[Edition]) -> QuerySet[Edition]:
    """Return editions with `marked_since`: how many trials that they rest on were marked invalid after the freeze.

    An edition stays as it is; who reads it is to know.
    """
    sources = EditionSource.objects.filter(edition=OuterRef(OuterRef("pk"))).order_by().values("of_campaign")
    marked = Trial.objects.filter(
        campaign__permanent_id__in=sources,
        invalid_at__gt=OuterRef("created_at"),
        is_warmup=False,
        state=Trial.State.SUCCEEDED,
    )
    count = marked.order_by().annotate(count=Func(F("pk"), function="COUNT")).values("count")
    return editions.annotate(marked_since=Subquery(count, output_field=IntegerField()))


def reports_of(campaign: Campaign) -> dict[str, Report]:
    """Return the reports of a campaign by language."""
    return {report.language: report for report in Report.objects.filter(campaign=campaign)}
