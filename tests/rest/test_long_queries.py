"""However long an address is, it costs the database no more than a short one."""

import itertools
import string
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLResolver, get_resolver

from apps.core import search
from tests.rest import world
from tests.rest.test_nonsense import _asked
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
LENGTH = 8000
# Who asks, its rights, what the team has; each page's own.
MOST_QUERIES = 60
MOST_JOINS, MOST_CONDITIONS, MOST_SIGNS = 60, 500, 60_000
SHORT = ["".join(pair) for pair in itertools.product(string.ascii_lowercase, repeat=2)]
LONGEST = " ".join(f"word{letter}{letter}xyz" for letter in string.ascii_lowercase[:20])


def long_values() -> Iterator[str]:
    """Yield values of 8 KB that a reader might take apart."""
    yield " ".join(map("".join, itertools.product(string.ascii_lowercase, repeat=3)))[:LENGTH]
    yield ",".join(map(str, range(1, 2000)))[:LENGTH]
    yield "-id,id,name," * (LENGTH // 12)
    yield "1" * LENGTH


def texts_for(parameter: dict[str, Any], place: int) -> list[str]:
    """Return the values that a parameter is tried with: words may be taken apart in any way, all else is read.

    What is read, as a number, a time or one of known values, has few readers: each meets every value in turn.
    """
    described, texts = parameter["schema"], list(long_values())
    is_words = described.get("type") in ("string", "array") and not described.keys() & {"enum", "format"}
    return texts if is_words else texts[place % len(texts) :][:1]


def cost(address: str, who: dict[str, str], client: Client) -> tuple[Any, str]:
    """Return the answer, and what of it cost too much, "" if nothing did."""
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(address, **who)
    said = [f"{len(asked)} queries"] if len(asked) > MOST_QUERIES else []
    for query in asked:
        sql = query["sql"]
        for name, count, most in (
            ("joins", sql.count(" JOIN "), MOST_JOINS),
            ("conditions", sql.count(" OR ") + sql.count(" AND "), MOST_CONDITIONS),
            ("signs", len(sql), MOST_SIGNS),
        ):
            said += [f"{count} {name}"] if count > most else []
    if answer.status_code >= 500:
        said.append(str(answer.status_code))
    return answer, ", ".join(said)


def test_no_parameter_of_any_reading_makes_a_query_without_bound(team: Any) -> None:
    wrong, client = [], Client(raise_request_exception=False)
    readings = list(enumerate(_asked(team)))
    assert len(readings) > 200
    # Of values that are read, each meets a part of the parameters in each turn: there are four of them.
    for place, (path, address, query, parameter) in part_of(readings, parts=3):
        name, who = parameter["name"], world.header(team, path)
        texts = [urlencode(query | {name: text}) for text in texts_for(parameter, place)]
        if parameter["schema"].get("type") == "array":
            texts.append(urlencode([(name, short) for short in SHORT]))
            texts.append(urlencode([(name, f"1-{number}") for number in range(2, 700)]))
            texts.append(urlencode([(name, number) for number in range(2, 900)]))
        for text in texts:
            answer, said = cost(f"{address}?{text}", who, client)
            if said:
                wrong.append(f"{address}?{name} ({text[:40]}): {answer.status_code}, {said}")
    assert wrong == []


def test_every_search_of_a_list_has_its_bounds(team: Any) -> None:
    wrong, asked, client = [], 0, Client()
    many = " ".join(SHORT[:60])
    again = " ".join(["node"] * 30 + ["o"] * 10)
    for path, address, query, parameter in _asked(team):
        if parameter["name"] != "search" or path.startswith("/api/v1/exports/"):
            continue
        asked += 1
        who = world.header(team, path)
        assert parameter["schema"]["maxLength"] == search.LONGEST
        for text, status in ((" ".join(SHORT), 400), (many, 400), (again, 200), (LONGEST, 200)):
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(address, query | {"search": text}, **who)
            told = answer.json().get("fields", {}).get("search", [""])[0]
            is_asked = any("UPPER(" in one["sql"] for one in queries)
            if answer.status_code != status or (status == 400 and (is_asked or "At most" not in told)):
                wrong.append(f"{address}: {answer.status_code} for {text[:20]}: {told}")
        _answer, said = cost(f"{address}?{urlencode(query | {'search': LONGEST})}", who, client)
        wrong += [f"{address}: {said}"] if said else []
    assert wrong == []
    assert asked > 15


def _pages(resolver: URLResolver, front: str = "/") -> Iterator[str]:
    """Yield the address of each page that takes nothing from its path."""
    for item in resolver.url_patterns:
        path = front + str(item.pattern).strip("^$")
        if any(sign in path for sign in "<(?\\") or path.startswith(("/api/", "/agent/", "/admin/")):
            continue
        if isinstance(item, URLResolver):
            yield from _pages(item, path)
        else:
            yield path


def _main_of(content: bytes) -> bytes:
    """Return a page without what stands around its content: each has the palette that looks up anything."""
    return content.partition(b"<main")[2].partition(b"</main>")[0]


def test_every_list_in_the_browser_says_what_it_does_not_look_for(team: Any) -> None:
    client, wrong, asked = Client(), [], 0
    client.force_login(team.cast.alice)
    for address in dict.fromkeys(_pages(get_resolver())):
        answer = client.get(address)
        if answer.status_code != 200 or answer.streaming or b'name="q"' not in _main_of(answer.content):
            continue
        asked += 1
        for text in (" ".join(SHORT * 4), " ".join(SHORT[:60]) + "x" * 500):
            answer, said = cost(f"{address}?{urlencode({'q': text})}", {}, client)
            content = answer.content.decode()
            if said or "are searched for." not in content or text[:50] not in content or 'name="q"' not in content:
                wrong.append(f"{address}: {answer.status_code}, {said}")
        answer, said = cost(f"{address}?{urlencode({'q': LONGEST})}", {}, client)
        if said or "are searched for." in answer.content.decode():
            wrong.append(f"{address}: {said} for the longest search")
    assert wrong == []
    assert asked >= 14


def test_words_that_stand_in_others_are_looked_for_once() -> None:
    assert search.words_of("a A ab AB node kisti-node 'node 1' b") == ["ab", "kisti-node", "node 1"]
    assert search.words_of("x " * 90) == ["x"]
    assert search.words_of(' " ') == []
