"""What was typed into a form stays when another team is chosen, and all mistakes are seen at once, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]


def test_the_choice_of_another_team_keeps_what_was_typed(page: Page, stack: Stack) -> None:
    team = stack.api.post("teams/", {"name": "Second"})
    page.goto("/campaigns/new/")
    page.get_by_label("Name").fill("Windows of the WAN")
    page.get_by_label("Goal").fill("How large?")
    page.locator("#team-choice").select_option(team["slug"])
    page.wait_for_url(f"**team={team['slug']}")
    expect(page.get_by_label("Name")).to_have_value("Windows of the WAN")
    expect(page.get_by_label("Goal")).to_have_value("How large?")
    # What was refused stays, too.
    page.locator("#id_cron").fill("every day")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".field-errors, .invalid-feedback").first).to_be_visible()
    page.locator("#team-choice").select_option("grid")
    page.wait_for_url("**team=grid")
    expect(page.locator("#id_cron")).to_have_value("every day")
    # The next form begins empty.
    page.goto("/campaigns/new/")
    expect(page.get_by_label("Name")).to_have_value("")
