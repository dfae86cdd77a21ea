"""Nobody undoes unseen what somebody else saved: every form of a thing that is there carries what it showed of it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve

from apps.core import editing
from tests.core.test_refused_writes import OWN, PAGES, address_of, everything
from tests.core.test_refused_writes import world as populated
from tests.pages import flat
from tests.rotation import number_of, part_of
from tests.toolbox.conftest import definition, tool

__all__ = ["definition", "populated", "tool"]
pytestmark = pytest.mark.django_db

# Forms with something to fill in that change nothing which is there: they make, ask, search, choose or confirm.
MAKING = {
    "accounts:login", "accounts:password", "accounts:language", "accounts:theme", "accounts:team_create",
    "accounts:token_create", "accounts:invite", "set_language",
    "campaigns:campaign_delete", "campaigns:note_add", "campaigns:recipe",
    "exports:receive", "imports:import_create",
    "landing:run", "management:create", "published:import", "testbeds:add_nodes", "testbeds:import",
    "testbeds:node_grants", "toolbox:tool_import",
}  # fmt: skip
# What a page is asked with that is to be changed in its place.
CHANGING = "?edit=1"


class Forms(HTMLParser):
    """Reads the forms of a page that are posted: where to, and the fields with the values that they show."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[SimpleNamespace] = []
        self.form: SimpleNamespace | None = None
        self.select = self.area = ""
        self.offered = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "form":
            action = values.get("hx-post") if values.get("method") != "post" else values.get("action", "")
            self.form = None if action is None else SimpleNamespace(action=action, fields={}, typed=set(), over=False)
            if self.form:
                self.form.buttons = []
                self.found.append(self.form)
        if tag == "button" and self.form and values.get("type") != "button":
            self.form.buttons.append((name, values.get("value", "")))
        if self.form is None or not name or "disabled" in values:
            if tag == "option" and self.form and self.select:
                self._option(values)
            return
        if tag == "button":
            self.form.over |= name == editing.OVER
        elif tag == "select":
            self.select, self.offered = name, "multiple" in values
            self.form.typed.add(name)
        elif tag == "textarea":
            self.area = name
            self.form.typed.add(name)
            self.form.fields[name] = [""]
        elif tag == "input":
            self._input(name, values)

    def _input(self, name: str, values: dict[str, str]) -> None:
        assert self.form
        if values.get("type") != "hidden":
            self.form.typed.add(name)
        if (values.get("type") in ("checkbox", "radio") and "checked" not in values) or values.get("type") == "file":
            return
        self.form.fields.setdefault(name, []).append(values.get("value", "on" if "checked" in values else ""))

    def _option(self, values: dict[str, str]) -> None:
        assert self.form
        chosen = self.form.fields.setdefault(self.select, [])
        if "selected" in values or not (self.offered or chosen):
            if not self.offered and "selected" in values:
                chosen.clear()
            chosen.append(values.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            # Where each button says something else, the first is pressed.
            if self.form and self.form.buttons and all(name for name, _value in self.form.buttons):
                name, value = self.form.buttons[0]
                self.form.fields[name] = [value]
            self.form = None
        elif tag == "select":
            self.select = ""
        elif tag == "textarea":
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area and self.form:
            self.form.fields[self.area][0] += data.removeprefix("\n")


def forms_of(text: str) -> list[Any]:
    """Return the forms of a page that are posted."""
    parser = Forms()
    parser.feed(text)
    return parser.found


def name_of(path: str) -> str:
    """Return the name of the page at a path."""
    return resolve(path.partition("?")[0]).view_name


def read(client: Client, address: str) -> Iterator[str]:
    """Yield a page as it is shown and, where it can be changed in its place and says so, as it is then."""
    answer = client.get(address)
    if answer.status_code == 200 and "html" in answer.headers["Content-Type"]:
        yield (text := answer.content.decode())
        if f'"{CHANGING}"' in text:
            yield client.get(address + CHANGING).content.decode()


def shown(world: Any, client: Client) -> dict[str, Any]:
    """Return every form with something to fill in, by "name of its address: its fields", of this run's pages."""
    found = {}
    for name in part_of(sorted(PAGES.keys() - (OWN - {"accounts:profile"}))):
        address = address_of(name, world)
        for text in read(client, address):
            for form in forms_of(text):
                target = form.action or address
                form.place = target
                if form.typed:
                    # A form that names no section makes a new one.
                    made = {"reports:own": "key" not in form.fields}.get(name_of(target), False)
                    found[f"{name_of(target)}{'_create' * made}: {' '.join(sorted(form.typed))}"] = form
    return found


@pytest.fixture
def world(populated: SimpleNamespace) -> SimpleNamespace:
    own = [{"key": "own-1", "title": "Limits & <hopes>", "text": 'The "night" of 11-23'}]
    populated.report.edits = {"own": own, "words": {}, "remarks": {}}
    populated.report.save()
    return populated


@pytest.fixture
def alice(cast: SimpleNamespace) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)
    return client


def is_versioned(form: Any) -> bool:
    # A tool is changed by a next version, which says on which it is based.
    return editing.VERSION in form.fields or "based_on" in form.fields


def test_every_form_says_what_it_showed_and_refuses_what_rests_on_something_else(world: Any, alice: Client) -> None:
    """One walk through all pages does for both; what rests on what is there is taken."""
    wrong = []
    everywhere = shown(world, alice)
    versioned = {name: form for name, form in everywhere.items() if editing.VERSION in form.fields}
    assert len([form for form in everywhere.values() if is_versioned(form)]) >= number_of(20, 8)
    unversioned = {name.partition(": ")[0] for name, form in everywhere.items() if not is_versioned(form)}
    making = {name for name in unversioned if name.endswith(("_create", "_clone"))} | MAKING
    assert not unversioned - making, " ".join(sorted(unversioned - making))
    # What a form does is taken back before the next one.
    before = everything()
    for name, form in versioned.items():
        stale = re.sub(r"=[0-9a-f]{16}", "=" + "0" * 16, form.fields[editing.VERSION][0])
        with transaction.atomic():
            sent = form.fields | {editing.VERSION: [stale]}
            answer = alice.post(form.place, sent)
            text = flat(answer.content.decode())
            if everything() != before:
                wrong.append(f"{name}: a stale form is obeyed, {answer.status_code}")
            again = next((part for part in forms_of(text) if part.over), None)
            # What htmx puts into a page comes with 200.
            if answer.status_code not in (200, 409) or again is None:
                wrong.append(f"{name}: a stale form is answered by {answer.status_code}, without a way on")
                transaction.set_rollback(True)
                continue
            over = re.search(rf'name="{editing.OVER}" value="([^"]*)"', text)
            assert over
            answer = alice.post(again.action or form.place, again.fields | {editing.OVER: [over[1]]})
            if answer.status_code == 409 or f'name="{editing.OVER}"' in answer.content.decode():
                wrong.append(f"{name}: what somebody agreed to save over is refused")
            transaction.set_rollback(True)
        with transaction.atomic():
            answer = alice.post(form.place, form.fields)
            if answer.status_code == 409 or f'name="{editing.OVER}"' in answer.content.decode():
                wrong.append(f"{name}: refused, and nobody changed anything")
            transaction.set_rollback(True)
    assert not wrong, "\n".join(wrong)
    assert everything() == before
