"""The side bar: every entry leads somewhere, and the page one is on is marked."""

import pytest
from django.test import Client, RequestFactory
from django.urls import resolve, reverse

from apps.accounts.models import User
from apps.core import menu

ENTRIES = [entry for group in menu.MENU for entry in group.entries]


def current_at(path: str) -> dict[str, str]:
    """Return what is marked at an address: {address of the entry: word}."""
    request = RequestFactory().get(path)
    request.resolver_match = resolve(path)
    shown = [entry for _title, entries in menu.groups_for(request) for entry in entries]
    return {entry.url: entry.current for entry in shown if entry.current}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.view)
def test_an_entry_is_the_current_page_at_its_own_address(entry: menu.MenuEntry) -> None:
    url = reverse(entry.view)
    assert current_at(url) == {url: "page"}


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("/inventory/nodes/7/", "testbeds:node_list"),
        ("/inventory/links/7/", "testbeds:home"),
        ("/inventory/file-systems/7/", "testbeds:filesystem_list"),
        ("/results/trials/7/", "campaigns:campaign_list"),
        ("/findings/sites/1/2/", "matrix:matrix"),
        ("/findings/7/", "tuning:list"),
        ("/reports/management/new/", "reports:list"),
    ],
)
def test_a_page_belongs_to_one_section(path: str, entry: str) -> None:
    assert current_at(path) == {reverse(entry): "true"}


def test_a_page_of_no_section_marks_nothing() -> None:
    assert current_at("/accounts/profile/") == {}
    assert [entry.current for _title, entries in menu.groups_for(None) for entry in entries] == [""] * len(ENTRIES)


@pytest.mark.urls("tests.core.no_inventory")
def test_what_has_no_page_is_left_out() -> None:
    assert [entries for _title, entries in menu.groups_for(None)] == [[]] * len(menu.MENU)
    assert menu.own_for(None) == []


@pytest.mark.django_db
def test_every_entry_opens_for_whoever_is_signed_in(client: Client) -> None:
    client.force_login(User.objects.create_user("of-no-team"))
    own = [entry.url for entry in menu.own_for(None)]
    assert {client.get(url).status_code for url in [*(reverse(entry.view) for entry in ENTRIES), *own]} == {200}
