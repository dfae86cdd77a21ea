"""The side bar: what there is, grouped by what people do."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import NoReverseMatch, ResolverMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy


@dataclass(frozen=True)
class MenuEntry:
    """A page of the menu: `view` names its address, `sections` the spaces of names whose pages belong to it.

    After G its `key` leads there.

    A section is an application's ("reports") or what the names in one begin with ("testbeds:node").
    """

    label: Promise
    icon: str
    view: str
    sections: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class MenuGroup:
    """Entries under one title, or under none."""

    title: Promise | str
    entries: tuple[MenuEntry, ...]


@dataclass(frozen=True)
class ShownEntry:
    """An entry with its address; `current` is what ``aria-current`` says of it, "" of a page of another section."""

    label: str
    icon: str
    url: str
    current: str
    key: str


MENU = (
    MenuGroup("", (MenuEntry(gettext_lazy("Home"), "house", "home", ("home",), "h"),)),
    MenuGroup(
        pgettext_lazy("menu", "Measure"),
        (
            MenuEntry(
                gettext_lazy("Campaigns"), "play-circle", "campaigns:campaign_list", ("campaigns", "results"), "c"
            ),
            MenuEntry(gettext_lazy("Tools"), "wrench-adjustable", "toolbox:tool_list", ("toolbox",)),
        ),
    ),
    MenuGroup(
        gettext_lazy("Results"),
        (
            MenuEntry(gettext_lazy("Findings"), "lightbulb", "tuning:list", ("tuning", "published"), "f"),
            MenuEntry(gettext_lazy("Between sites"), "grid-3x3-gap", "matrix:matrix", ("matrix", "tuning:site"), "s"),
            MenuEntry(gettext_lazy("Results archive"), "archive", "archive:search", ("archive", "exports")),
            MenuEntry(gettext_lazy("Imports"), "box-arrow-in-down", "imports:import_list", ("imports",)),
            MenuEntry(gettext_lazy("Compare"), "layout-split", "comparison:compare", ("comparison",)),
            MenuEntry(gettext_lazy("History"), "graph-up", "history:list", ("history",)),
        ),
    ),
    MenuGroup(
        gettext_lazy("Inventory"),
        (
            MenuEntry(
                gettext_lazy("Nodes"), "hdd-stack", "testbeds:node_list", ("testbeds:node", "testbeds:grant"), "n"
            ),
            MenuEntry(gettext_lazy("Agents"), "plug", "agents:list", ("agents",)),
            MenuEntry(gettext_lazy("Sites and links"), "diagram-3", "testbeds:home", ("testbeds",)),
            MenuEntry(
                gettext_lazy("File systems"), "device-hdd", "testbeds:filesystem_list", ("testbeds:filesystem",)
            ),
        ),
    ),
    MenuGroup(
        gettext_lazy("Reports"),
        (
            MenuEntry(
                gettext_lazy("Reports"),
                "file-earmark-text",
                "reports:list",
                ("reports", "management", "renderings"),
                "r",
            ),
            MenuEntry(gettext_lazy("Schedules"), "envelope-paper", "schedules:schedule_list", ("schedules",)),
        ),
    ),
)
OWN = (
    MenuEntry(gettext_lazy("Profile"), "sliders", "accounts:profile"),
    MenuEntry(gettext_lazy("Teams"), "people", "accounts:teams"),
    MenuEntry(gettext_lazy("Invitations"), "envelope", "accounts:invitations"),
    MenuEntry(gettext_lazy("API tokens"), "key", "accounts:tokens"),
    MenuEntry(gettext_lazy("Password"), "shield-lock", "accounts:password"),
)


def groups_for(request: HttpRequest | None) -> list[tuple[str, list[ShownEntry]]]:
    """Return (title, entries) of each group, for the page that answers a request."""
    section = _section_of(request)
    return [(str(group.title), list(_shown(group.entries, request, section))) for group in MENU]


def own_for(request: HttpRequest | None) -> list[ShownEntry]:
    """Return the entries that lead to what is one's own."""
    return list(_shown(OWN, request, None))


def _section_of(request: HttpRequest | None) -> str | None:
    """Return the section, of all entries, that says the most of the page asked for."""
    match: ResolverMatch | None = getattr(request, "resolver_match", None)
    if match is None:
        return None
    sections = [section for group in MENU for entry in group.entries for section in entry.sections]
    fitting = [section for section in sections if match.app_name == section or match.view_name.startswith(section)]
    return max(fitting, key=len, default=None)


def _shown(entries: tuple[MenuEntry, ...], request: HttpRequest | None, section: str | None) -> Iterator[ShownEntry]:
    for entry in entries:
        try:
            url = reverse(entry.view)
        except NoReverseMatch:
            continue
        is_here = request is not None and request.path == url
        is_section = section is not None and section in entry.sections
        yield ShownEntry(
            str(entry.label), entry.icon, url, "page" if is_here else "true" if is_section else "", entry.key
        )
