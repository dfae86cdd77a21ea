"""The pictures: every page of the URL conf has one, and a missing browser is named."""

import pytest

from launch.screenshots import browser, pages


def test_every_page_of_the_url_conf_has_a_picture() -> None:
    assert pages.forgotten(pages.all_shots()) == []


def test_a_page_without_a_picture_is_found() -> None:
    shots = [shot for shot in pages.all_shots() if shot.view not in ("testbeds:path", "api-docs", "accounts:login")]
    assert pages.forgotten(shots) == ["accounts:login", "api-docs", "testbeds:path"]


def test_what_is_called_no_page_is_in_the_url_conf_and_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    known = pages.NO_PAGES
    assert not {shot.view for shot in pages.all_shots()} & known
    monkeypatch.setattr(pages, "NO_PAGES", set())
    assert known <= set(pages.forgotten([]))


def test_each_picture_has_a_name_of_its_own() -> None:
    names = [shot.name for shot in pages.all_shots()]
    assert len(names) == len(set(names))


def test_a_missing_browser_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(browser.BrowserError, match="apt-get install chromium"):
        browser.executable()
