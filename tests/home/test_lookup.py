"""One search over everything that has a name."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.home import lookup
from apps.reports.models import Report
from apps.testbeds.models import Node
from apps.toolbox.models import TeamTool
from apps.tuning.models import Finding
from tests import factories
from tests.campaigns import factories as make
from tests.core.javascript import run
from tests.testbeds import factories as inventory

LOOKUP = reverse("start:lookup")
# Their lists are short, or their names are those of what has them: no search leads to them.
NOT_FOUND = {"sitepair"}


def hits(person: object, text: str) -> str:
    answer = factories.signed_in(person).get(LOOKUP, {"q": text})
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def world(cast: SimpleNamespace, pair: list[Node]) -> SimpleNamespace:
    """Return one thing of each kind with a name that begins alike."""
    team = cast.team
    site = inventory.site(team, "quokka site")
    campaign = Campaign.objects.create(team=team, name="quokka campaign", launched_at=timezone.now())
    inventory.testbed(team, "quokka testbed")
    inventory.node(team, "quokka-node")
    inventory.cluster(team, "quokka cluster", *pair)
    inventory.switch(team, "quokka switch")
    inventory.file_system(team, "quokka fs")
    make.link(*make.nodes(team, "a", "b"), "quokka link")
    Finding.objects.create(
        team=team,
        campaign=campaign,
        rule="x",
        title={"msgid": "quokka finding", "params": {}},
        details={},
        confidence=0.9,
    )
    Report.objects.create(team=team, title="quokka report", language="en", campaign=campaign)
    TeamTool.objects.create(team=team, slug="quokka", name="quokka tool")
    return SimpleNamespace(cast=cast, site=site)


def test_every_kind_is_found_by_who_sees_it_and_by_nobody_else(world: SimpleNamespace) -> None:
    page = hits(world.cast.bob, "QUOKKA")
    missing = [str(source.title) for source in lookup.SOURCES if f">{source.title}</p>" not in page]
    assert missing == []
    strange = hits(world.cast.charlie, "quokka")
    assert strange.count("palette-hit") == 1
    assert "Search the archive for “quokka”" in strange
    assert Client().get(LOOKUP, {"q": "quokka"}).headers["Location"].startswith("/accounts/")


def test_everything_in_the_inventory_with_a_page_can_be_found() -> None:
    names = {
        name.removesuffix("_detail")
        for name in get_resolver().namespace_dict["testbeds"][1].reverse_dict
        if isinstance(name, str) and name.endswith("_detail")
    }
    assert {name for name in names if name not in NOT_FOUND} <= {
        source.rows(factories.User()).model._meta.model_name for source in lookup.SOURCES
    }


def test_it_costs_one_query_a_kind(world: SimpleNamespace, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        Campaign.objects.create(team=world.cast.team, name=f"quokka {number}")
    client = factories.signed_in(world.cast.bob)
    with django_assert_max_num_queries(2 * len(lookup.SOURCES) + 8):
        page = client.get(LOOKUP, {"q": "quokka"}).content.decode()
    assert page.count("/campaigns/") <= 2 * lookup.SHOWN + 1


def test_without_words_there_are_the_pages_and_what_one_may_begin(cast: SimpleNamespace) -> None:
    assert "New campaign" in hits(cast.oscar, "")
    assert "New campaign" not in hits(cast.bob, "")
    page = hits(cast.bob, "between")
    assert reverse("matrix:matrix") in page
    assert reverse("agents:list") not in page


@pytest.mark.parametrize("text", ["x" * 201, "\0", " ".join(map(str, range(21))), '"', "%", "\\", "<b>"])
def test_odd_searches_are_answered(cast: SimpleNamespace, text: str) -> None:
    assert "<b>" not in hits(cast.bob, text)


PAGE = """
const listeners = {};
const element = (extra = {}) => ({ hidden: false, dataset: {}, open: false, checked: true, value: "",
  querySelectorAll: () => [], querySelector: () => element(), addEventListener: () => {}, replaceChildren: () => {},
  append: () => {}, select: () => {}, dispatchEvent: () => {}, removeAttribute: () => {}, closest: () => null,
  showModal() { this.open = true; }, close() { this.open = false; }, ...extra });
const parts = {};
const stored = {};
const storage = { getItem: (name) => stored[name] ?? null, setItem: (name, value) => { stored[name] = value; } };
globalThis.localStorage = storage;
globalThis.sessionStorage = storage;
globalThis.location = { pathname: "/", search: "" };
globalThis.CSS = { escape: (value) => value };
globalThis.CustomEvent = class {};
const visited = [];
const body = element({ dataset: { person: globalThis.person ?? "7" } });
globalThis.document = { title: "Home", body, createElement: () => element(),
  getElementById: (name) => parts[name] ??= element(),
  querySelector: (which) => which === "dialog[open]" ? Object.values(parts).find((part) => part.open) ?? null
    : { click: () => visited.push(which) },
  addEventListener: (name, step) => { listeners[name] = step; } };
const press = (key, how = {}) => listeners.keydown({ key, target: element(), preventDefault: () => {}, ...how });
"""


def test_keys_open_the_search_and_lead_to_pages_unless_they_are_off_or_somebody_types() -> None:
    program = """
    const inField = element({ closest: () => ({}) });
    press("/", { target: inField });
    const typed = parts.palette.open;
    press("k", { ctrlKey: true, target: inField });
    const held = parts.palette.open;
    parts.palette.close();
    press("g"); press("n");
    press("n");
    stored["fathom-single-keys"] = "off";
    press("/"); press("g"); press("c");
    done({ typed, held, visited, off: parts.palette.open });
    """
    answer = run(program, "palette.js", before=PAGE)
    assert answer == {"typed": False, "held": True, "visited": ['[data-go="n"]'], "off": False}


def test_recent_pages_are_those_of_the_person_who_is_signed_in() -> None:
    stored = [run('done(Object.keys(stored));', "palette.js", before=f"globalThis.person = {who!r};\n{PAGE}")
            for who in ("7", "8")]  # fmt: skip
    assert stored == [["fathom-recent-7"], ["fathom-recent-8"]]
