"""However a name is written, no page and no file that strangers read holds it, in either language."""

import html
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import translation

from apps.archive.landing.redaction import Hidden
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.runnable.shape import LONGEST_TEXT
from tests import rewriting
from tests.archive.landing.answers import public_answers
from tests.archive.landing.test_redaction import ADDRESSES, SECRETS, names, secret
from tests.archive.landing.writings import dotted, forms_of, glued, is_long_enough, networks, plain
from tests.rotation import part_of

__all__ = ["names", "secret"]

BETWEEN = " · "
# The author is cited; of the others a page has the signs in other words.
ELSEWHERE = ("oscar", "gw", "서울")


def writings() -> Iterator[str]:
    """Yield every name in every form that is hidden."""
    for name in SECRETS:
        if name not in ELSEWHERE:
            yield from forms_of(name)
            yield from glued(name) if is_long_enough(name) else ()
    for address in ADDRESSES[:2]:
        yield from dotted(address)
        yield from networks(address)


def chunks(forms: list[str]) -> Iterator[list[str]]:
    """Yield the forms in lists that a goal has room for."""
    chunk: list[str] = []
    length = 0
    for form in forms:
        if length + len(form) + len(BETWEEN) > LONGEST_TEXT:
            yield chunk
            chunk, length = [], 0
        chunk.append(form)
        length += len(form) + len(BETWEEN)
    yield chunk


def texts_in(told: Any) -> Iterator[str]:
    """Yield the keys and texts of what a file or an answer says."""
    if isinstance(told, dict):
        for key, value in told.items():
            yield str(key)
            yield from texts_in(value)
    elif isinstance(told, list):
        for value in told:
            yield from texts_in(value)
    else:
        yield str(told)


def read(address: str, answer: str) -> str:
    """Return what a reader of an answer reads, whatever it has to escape."""
    _headers, _line, body = answer.partition("\n")
    if address.endswith(".yaml"):
        body = "\n".join(texts_in(yaml.safe_load(body)))
    elif address.startswith("/api/") and body.startswith("{"):
        body = "\n".join(texts_in(json.loads(body)))
    return plain(f"{answer}\n{html.unescape(body)}")


def test_a_name_is_hidden_within_a_word_of_programs(names: Hidden) -> None:
    for name in filter(is_long_enough, SECRETS):
        for form in glued(name):
            for context in ("{}", "at {} now", "{}에서", "log_{}.txt", "{} RTT"):
                shown = names.text(context.format(form))
                assert plain(name) not in plain(shown) and plain(form) not in plain(shown), (name, form)


@pytest.mark.parametrize("address", ["192.168.77.5", "10.0.0.254", "172.16.5.9", "172.31.9.8"])
def test_an_address_is_hidden_however_its_points_are_written(names: Hidden, address: str) -> None:
    for form in dotted(address):
        for context in ("{}", "at {} now", "{}에서", "노드{}", "x={};"):
            # Of figures with commas the inventory alone tells which are an address, or the port that follows.
            if "," not in form or "(" in form or address in ADDRESSES:
                assert form not in names.text(context.format(form)), form


@pytest.mark.parametrize("address", ADDRESSES[:4])
def test_a_network_of_the_inventory_is_hidden_however_it_is_written(names: Hidden, address: str) -> None:
    for form in networks(address):
        first = form[: 6 if "." in address else 9]
        for context in ("{}", "at {} now", "{}에서", "노드{}", "x={};", "{}-"):
            redacted = names.text(context.format(form))
            assert form not in redacted and "address" in redacted and first not in redacted, (form, context, redacted)


def test_what_is_no_network_of_the_inventory_stays(names: Hidden) -> None:
    for text in ("10.1.x", "192.168.78.* and 3.11.x", "took 10.0. Next", "10.0.254 s", "1.10.0.x", "1:2:x", "a:b:*"):
        assert names.text(text) == text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_public_page_or_file_holds_a_name_however_it_is_written(
    client: Client, secret: Campaign, cast: SimpleNamespace, language: str
) -> None:
    client.cookies.load({"django_language": language})
    forms = list(dict.fromkeys(writings()))
    assert len(forms) > 2_000
    hidden = Hidden(cast.team.pk)
    for chunk in part_of(chunks(forms)):
        text = BETWEEN.join(chunk)
        short = BETWEEN.join(chunk[:8])[:200].rpartition(BETWEEN)[0]
        Campaign.objects.filter(pk=secret.pk).update(name=short, goal=text)
        experiments = Experiment.objects.filter(campaign=secret)
        experiments.update(name=short, fixed={"congestion": text[:900].rpartition(BETWEEN)[0]}, exclusions=chunk)
        trials = Trial.objects.filter(campaign=secret)
        rewriting.update(trials, parameters={"window": 65536, "congestion": text})
        with translation.override(language):
            answers = public_answers(client, secret)
        for address, answer in answers.items():
            told = read(address, answer)
            assert not [form for form in chunk if plain(form) in told], address
    # Long texts are cut; none of the names is only hidden by that.
    assert not [form for form in part_of(forms) if plain(form) in plain(hidden.text(form))]
