"""What comes from elsewhere holds no more than documents of ours, and a page is made of no more than it can show."""

import dataclasses
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.reports import foreign, queries, serialisation, services
from apps.reports.document import Drawing, Items, Paragraph, Section, TextLink, walk
from apps.reports.files import html
from apps.reports.models import Edition, Report
from apps.testbeds import topology
from apps.testbeds.models import Node
from tests import factories as people
from tests.reports import documents
from tests.testbeds import factories

pytestmark = pytest.mark.django_db
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 9 9">{inner}</svg>'
TURBULENCE = '<filter id="b"><feTurbulence baseFrequency="0.01" numOctaves="8"/></filter>'
HOSTILE = [
    HEAD.format(w=9, h=9, inner=f"<defs>{TURBULENCE}</defs>"),
    HEAD.format(w=9, h=9, inner='<rect width="5" height="5" filter="url(#b)"/>'),
    HEAD.format(w=9, h=9, inner='<g id="a"/><use href="#a"/>'),
    HEAD.format(w=9, h=9, inner='<image href="file:///etc/passwd"/>'),
    HEAD.format(w=9, h=9, inner="<script>1</script>"),
    HEAD.format(w=9, h=9, inner='<rect x="1" onload="a"/>'),
    HEAD.format(w=9, h=9, inner="<style>@import url(http://example.org/a.css)</style>"),
    HEAD.format(w=9, h=9, inner="<style>rect{fill:url(#b)}</style>"),
    HEAD.format(w=9, h=9, inner="<style>rect{filter:blur(9px)}</style>"),
    HEAD.format(w=9, h=9, inner='<svg width="9" height="9"/>'),
    HEAD.format(w=9, h=9, inner="<g/>" * foreign.MOST_ELEMENTS),
    HEAD.format(w=20_001, h=9, inner=""),
    HEAD.format(w="9em", h=9, inner=""),
    HEAD.format(w=9, h=9, inner="").replace(' width="9"', ""),
    '<!DOCTYPE svg [<!ENTITY a "b">]>' + HEAD.format(w=9, h=9, inner="&a;"),
    "<?xml-stylesheet href='a.css'?>" + HEAD.format(w=9, h=9, inner=""),
    "<html/>",
    "no drawing",
    "",
]


def with_blocks(*blocks):
    return dataclasses.replace(documents.document(), sections=(Section("s", "S", blocks=blocks),))


@pytest.mark.parametrize("svg", HOSTILE)
def test_a_drawing_unlike_ours_is_refused(svg: str) -> None:
    with pytest.raises(serialisation.DocumentError):
        foreign.check(with_blocks(Drawing("d", "D", svg)))


def test_drawings_of_ours_are_taken() -> None:
    factories.two_sites(people.team(), nodes=4)
    svg, _words = topology.standalone_svg([*Node.objects.all()])
    assert "<style>" in svg
    foreign.check(with_blocks(Drawing("d", "D", svg)))
    foreign.check(documents.document())


@pytest.mark.parametrize(
    "blocks",
    [
        (Paragraph(("a",) * (foreign.MOST_PARTS + 1)),),
        (Items((("a",),) * (foreign.MOST_PARTS // 2 + 1)),),
        (Paragraph(("a",), others=(Paragraph(("a",) * foreign.MOST_PARTS),)),),
        (Paragraph(()),) * foreign.MOST_BLOCKS,
        (Drawing("d", "D", documents.SVG),) * (foreign.MOST_DRAWINGS + 1),
    ],
)
def test_more_than_any_report_has_is_refused(blocks) -> None:
    with pytest.raises(serialisation.DocumentError):
        foreign.check(with_blocks(*blocks))


@pytest.mark.parametrize(
    "blocks",
    [
        (Paragraph((TextLink("a", "trial:b"),) * (html.MOST_PARTS + 1)),),
        (Items((("a",),) * html.MOST_PARTS),),
        tuple(dataclasses.replace(documents.TABLE, key=str(number)) for number in range(html.MOST_PARTS // 9)),
        (Paragraph(("a",)),) * (html.MOST_PARTS + 1),
    ],
)
def test_a_page_shows_so_much_and_says_where_the_rest_is(blocks) -> None:
    page = html.page_of(with_blocks(*blocks))
    assert page.is_cut
    parts = sum(html._parts_in(item.block) for chapter in page.sections for item in chapter.blocks)
    assert parts <= html.MOST_PARTS
    assert "Its files have all of it" in html.render(with_blocks(*blocks))


def test_a_page_of_an_ordinary_report_has_all_of_it() -> None:
    page = html.page_of(documents.document())
    assert not page.is_cut
    count = sum(len(part.blocks) for chapter in page.sections for part in (chapter, *chapter.parts))
    assert count + len(page.summary) == len([*walk(documents.document())])


@pytest.fixture
def edition(cast: SimpleNamespace) -> Edition:
    report = Report.objects.create(team=cast.team, language="en", title="Windows")
    services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
    return Edition.objects.defer("canonical").get()


def test_what_is_too_long_is_shown_nowhere(
    cast: SimpleNamespace, edition: Edition, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.oscar)
    rest = f"/api/v1/editions/{edition.permanent_id}/"
    addresses = [edition.get_absolute_url(), rest, f"{rest}document/"]
    assert [client.get(address).status_code for address in addresses] == [200, 200, 200]
    monkeypatch.setattr(queries, "MOST_SHOWN_BYTES", 100)
    page = client.get(addresses[0])
    assert page.status_code == 200
    assert "too long to be shown" in page.content.decode()
    assert "differs" not in page.content.decode()
    assert client.get(addresses[1]).json()["checksum"] == edition.checksum
    refusal = client.get(addresses[2])
    assert refusal.status_code == 409
    assert "Ask for a file" in refusal.content.decode()
    # Of who gets another text nothing tells the checksum here.
    assert queries.as_shown_to(edition, AnonymousUser()).checksum == ""
    assert queries.as_shown_to(edition, AnonymousUser()).canonical == ""


def test_the_canonical_text_is_sent_from_the_page_and_not_if_it_is_too_long(
    cast: SimpleNamespace, edition: Edition, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.oscar)
    address = reverse("reports:edition_document", args=[edition.permanent_id])
    assert client.get(address).content.decode() == Edition.objects.get().canonical
    monkeypatch.setattr(queries, "MOST_SHOWN_BYTES", 100)
    assert client.get(address, follow=True).redirect_chain[-1][0] == edition.get_absolute_url()
