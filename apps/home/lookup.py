"""One search over everything that has a name, and over the pages there are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.campaigns import queries as campaigns
from apps.core import menu
from apps.core.messages import render
from apps.core.search import ListSearch
from apps.reports import queries as reports
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, Switch, Testbed
from apps.toolbox.models import TeamTool
from apps.tuning import queries as tuning

# So many of each kind are shown; the last line leads to more.
SHOWN = 4


@dataclass(frozen=True)
class LookupHit:
    """Something with a name, what else tells it from its like, and its page."""

    title: str
    detail: str
    url: str
    symbol: str


@dataclass(frozen=True)
class Source:
    """A kind of thing: which of it a person sees, in which fields words are looked for, and how a hit reads."""

    title: str | Promise
    symbol: str
    rows: Callable[[User], QuerySet[Any]]
    fields: tuple[str, ...]
    detail: Callable[[Any], str]


def _own(model: type[Model], *related: str) -> Callable[[User], QuerySet[Any]]:
    def rows(user: User) -> QuerySet[Any]:
        return rights.visible(model._default_manager.select_related("team", *related), user).order_by("name", "pk")

    return rows


def _team(row: Any) -> str:
    return str(row.team)


SOURCES = (
    Source(
        gettext_lazy("Campaigns"), "play-circle", campaigns.campaigns_for, ("name", "goal"),
        lambda campaign: str(campaign.get_state_display()),
    ),
    Source(
        gettext_lazy("Findings"), "lightbulb", tuning.listed_for, ("rule", "change", "campaign__name"),
        lambda finding: f"{finding.campaign}, {finding.get_state_display()}",
    ),
    Source(gettext_lazy("Nodes"), "hdd-stack", _own(Node, "testbed__site"), ("name", "addresses__address"),
           lambda node: str(node.testbed.site)),
    Source(gettext_lazy("Sites"), "geo-alt", _own(Site), ("name", "place"), _team),
    Source(gettext_lazy("Testbeds"), "boxes", _own(Testbed), ("name",), _team),
    Source(gettext_lazy("Links"), "signpost-split", _own(Link), ("name",), _team),
    Source(gettext_lazy("Clusters"), "collection", _own(Cluster), ("name",), _team),
    Source(gettext_lazy("Switches"), "ethernet", _own(Switch), ("name",), _team),
    Source(gettext_lazy("File systems"), "device-hdd", _own(FileSystem), ("name",), _team),
    Source(gettext_lazy("Reports"), "file-earmark-text", reports.reports_for, ("title",), _team),
    Source(gettext_lazy("Tools"), "wrench-adjustable", _own(TeamTool), ("name", "slug"), _team),
)  # fmt: skip


def hits_for(request: HttpRequest, text: str) -> list[tuple[str, list[LookupHit]]]:
    """Return (title, hits) of each kind that has any, in one query a kind; without words the pages and actions."""
    user = rights.user_of(request)
    search = ListSearch(text)
    groups = [(str(source.title), list(_hits(source, user, search))) for source in SOURCES] if search.words else []
    groups.append((_("Pages and actions"), list(_pages(request, user, search))))
    return [(title, hits) for title, hits in groups if hits]


def _hits(source: Source, user: User, search: ListSearch) -> Iterator[LookupHit]:
    rows = search.of(source.rows(user), source.fields)
    # A row with several addresses is found once for each.
    for row in {row.pk: row for row in rows[: 2 * SHOWN]}.values():
        title = render(row.title) if source.rows is tuning.listed_for else str(row)
        url = reverse("tuning:detail", args=[row.pk]) if source.rows is tuning.listed_for else row.get_absolute_url()
        yield LookupHit(title, source.detail(row), url, source.symbol)


def _pages(request: HttpRequest, user: User, search: ListSearch) -> Iterator[LookupHit]:
    pages = (
        [LookupHit(_("New campaign"), "", reverse("campaigns:campaign_create"), "plus-lg")]
        if _can_write(user)
        else []
    )
    pages += [
        LookupHit(entry.label, group, entry.url, entry.icon)
        for group, entries in (*menu.groups_for(request), (_("Yours"), menu.own_for(request)))
        for entry in entries
    ]
    words = [word.lower() for word in search.words]
    yield from (page for page in pages if all(word in page.title.lower() for word in words))
    if search.words:
        url = f"{reverse('archive:search')}?{urlencode({'q': search.text})}"
        yield LookupHit(_("Search the archive for “%(text)s”") % {"text": search.text}, "", url, "archive")


def _can_write(user: User) -> bool:
    return rights.teams_for(user, Role.OPERATOR).exists()
