"""No page and no file tells a team-mate a word of a campaign that only its maker sees; `test_fuzz` asks REST."""

import re
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from tests import factories
from tests.core.test_space import plain_addresses
from tests.rest import privacy

pytestmark = pytest.mark.django_db
LINK = re.compile(r'(?:href|hx-get|src|data-url)="([^"#]+)')
LEFT_OUT = ("/static/", "/admin/", "/api/", "/accounts/logout/", "/language/")


class Answer(NamedTuple):
    """What an address answers: its type, and its bytes."""

    media: str
    content: bytes


def reached(client: Client, first: list[str]) -> dict[str, Answer]:
    """Return {address: answer} of the first ones, and of one of each other kind of page that links lead to."""
    waiting, found, kinds = deque(first), dict[str, Answer](), set[str]()
    while waiting:
        address = waiting.popleft()
        try:
            kind = resolve(urlsplit(address).path).view_name
        except Resolver404:
            continue
        is_known = address in found or (kind in kinds and address not in first)
        if is_known or address.startswith(LEFT_OUT):
            continue
        kinds.add(kind)
        answer = client.get(address)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        found[address] = Answer(answer.headers.get("Content-Type", ""), content)
        if "html" in found[address].media:
            links = LINK.findall(content.decode().replace("&amp;", "&"))
            waiting += [urljoin(address, link) for link in links if not urlsplit(link).netloc]
    return found


def test_a_team_mate_reads_no_word_of_it_anywhere(team: Any, cast: factories.Cast) -> None:
    kept = privacy.keep(team)
    own = [f"/campaigns/{kept.measured.pk}/", f"/c/{kept.measured.permanent_id}/", f"/reports/{kept.report.pk}/"]
    first = [*plain_addresses(), *own, f"/campaigns/{team.measured.pk}/", f"/exports/?set=node:{team.a.pk}"]
    pages = reached(factories.signed_in(cast.alice), first)
    assert len(pages) > 100
    found = {
        address: text
        for address, answer in pages.items()
        if (text := privacy.told(answer.content, kept.words, address))
    }
    assert found == {}
    mine = factories.signed_in(cast.oscar)
    assert all(privacy.told(mine.get(address).content, [privacy.WORD], address) for address in own)
