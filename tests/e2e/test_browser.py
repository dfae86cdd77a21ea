"""The user's path in a real browser: describe, enrol, sweep, launch, watch, read; with two people looking."""

import csv
import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from launch.screenshots.browser import Watcher
from tests.comparison.figures.charts import ALL as CHARTS
from tests.comparison.figures.charts import PARALLEL
from tests.e2e.browsing import PHONE, problems, sign_in
from tests.e2e.conftest import PASSWORD, Opener, Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]
ON_A_PHONE = (
    "/",
    "/matrix/",
    "/campaigns/",
    "/campaigns/new/",
    "/findings/",
    "/inventory/",
    "/inventory/sites/",
    "/inventory/testbeds/new/",
    "/inventory/nodes/",
    "/inventory/links/new/",
    "/inventory/path/",
    "/inventory/import/",
    "/agents/",
    "/accounts/profile/",
    "/accounts/teams/",
    "/accounts/tokens/new/",
    "/accounts/password/",
)
TYPE_AND_WAIT = """value => new Promise(resolve => {
    document.querySelector("[hx-post*=already]").addEventListener("htmx:trigger", resolve, { once: true });
    const field = document.querySelector("[name=repetitions]");
    field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
})"""


def open_menu(page: Page, name: str) -> None:
    """Open one's own menu, once the script that does it is there."""
    page.wait_for_load_state()
    page.get_by_role("button", name=name).click()


def create(page: Page, address: str, fields: dict[str, str], chosen: dict[str, str] | None = None) -> None:
    """Fill a form of the inventory by the names of its fields, send it, and wait for the page of the new thing."""
    page.goto(address)
    for name, text in fields.items():
        page.locator(f"main [name={name}]").fill(text)
    for name, option in (chosen or {}).items():
        page.locator(f"main [name={name}]").select_option(label=option)
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url(re.compile(r"/\d+/"))


def test_a_node_is_described_in_forms_and_gets_a_command_to_paste(page: Page, stack: Stack) -> None:
    create(page, "/inventory/sites/new/", {"name": "Daejeon lab"})
    create(page, "/inventory/testbeds/new/", {"name": "Racks", "cpu": "Xeon"}, {"site": "Daejeon lab"})
    create(page, "/inventory/nodes/new/", {"name": "rack-1", "addresses": "192.0.2.7 eth1"}, {"testbed": "Racks"})
    expect(page.get_by_role("heading", level=1)).to_contain_text("rack-1")
    expect(page.locator("main")).to_contain_text("192.0.2.7")
    page.get_by_role("link", name="Agent", exact=True).click()
    page.get_by_role("link", name=re.compile("Enrol")).first.click()
    page.get_by_role("button", name="Make the command").click()
    command = page.locator("#curl")
    expect(command).to_contain_text("curl")
    expect(command).to_contain_text(stack.running.address)
    expect(command).to_contain_text("fathom-agent.pyz")
    assert problems(page) == []


def define_sweep(page: Page, stack: Stack, name: str) -> None:
    """Make a campaign and an experiment in it, and watch the count of trials follow what is typed."""
    page.goto("/campaigns/")
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Goal").fill("Which window fills the loopback?")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("link", name="Add an experiment").first.click()
    first, second = stack.nodes.values()
    page.get_by_label("Name", exact=True).fill("Windows")
    page.locator("[name=role_client]").select_option(f"node:{first}")
    page.locator("[name=role_server]").select_option(f"node:{second}")
    page.locator("[name=param_duration]").fill("1 s")
    page.locator("[name=repetitions]").fill("1")
    window, preview = page.locator("[name=param_window]"), page.locator("#preview")
    window.fill("64KiB..256KiB x2")
    expect(preview).to_contain_text("3 (3 points)")
    window.press_sequentially("x")
    expect(preview).to_contain_text("Not complete yet")
    window.fill("64KiB..128KiB x2")
    expect(preview).to_contain_text("2 (2 points)")
    page.locator("[name=repetitions]").fill("2")
    expect(preview).to_contain_text("4 (2 points)")
    page.locator("#experiment-form").get_by_role("button", name="Save").click()


def test_a_sweep_is_defined_launched_and_watched_to_its_end_without_a_reload(open_page: Opener, stack: Stack) -> None:
    # It signs out in the end, of what other tests are not signed in with.
    page = open_page()
    sign_in(page, "alice", PASSWORD)
    define_sweep(page, stack, "Seen live")
    page.get_by_role("link", name=re.compile("Launch")).click()
    page.get_by_role("button", name="Launch now").click()
    status = page.locator("#campaign-status")
    expect(status).to_have_attribute("data-state", "running")
    second = open_page()
    sign_in(second, "alice", PASSWORD)
    second.goto(page.url)
    # A page that was loaded again has lost this.
    for viewer in (page, second):
        viewer.evaluate("document.body.dataset.kept = 'yes'")
    for viewer in (page, second):
        expect(viewer.locator("#campaign-status")).to_contain_text("4 of 4 trials")
    for viewer in (page, second):
        expect(viewer.locator("#campaign-status")).to_have_attribute("data-state", "finished")
        expect(viewer.locator("[data-chart-panel] canvas")).to_be_visible()
        expect(viewer.locator("[data-chart-panel] tbody tr")).to_have_count(2)
        expect(viewer.locator("#campaign-events")).to_contain_text("trials measured: 4")
        assert viewer.evaluate("document.body.dataset.kept") == "yes"
    assert problems(page) == []
    read_a_trial_and_the_file(page)
    open_menu(page, "alice")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_typing_on_while_a_part_is_fetched_breaks_no_request_off(page: Page) -> None:
    page.goto("/campaigns/")
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_label("Name", exact=True).fill("Typed on")
    page.get_by_label("Goal").fill("Does the last word count?")
    page.get_by_role("button", name="Create", exact=True).click()
    kept: list[Route] = []
    page.route("**/already/**", lambda route: route.continue_() if kept else kept.append(route))
    with page.expect_request("**/already/**"):
        page.get_by_role("link", name="Add an experiment").first.click()
    page.evaluate(TYPE_AND_WAIT, "7")
    with page.expect_response(lambda answer: "repetitions=7" in (answer.request.post_data or "")) as answered:
        kept[0].continue_()
    assert answered.value.ok


def read_a_trial_and_the_file(page: Page) -> None:
    """Download the figures, then open a trial from the table: its command and output are there."""
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    with download.value.path().open(newline="", encoding="utf-8-sig") as file:
        assert len({row["trial"] for row in csv.DictReader(file)}) == 4
    # On a full machine figures carry flags, whose trials are listed in a part that is folded.
    page.locator("[data-chart-panel] tbody a").filter(visible=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("measured")
    expect(page.locator("pre.command").filter(has_text="iperf3 -c")).to_be_visible()
    expect(page.locator("[data-series-charts] canvas").first).to_be_visible()
    assert problems(page) == []


def test_the_dark_theme_stays_chosen(page: Page) -> None:
    root = page.locator("html")
    expect(root).to_have_attribute("data-bs-theme", "light")
    open_menu(page, "alice")
    with page.expect_response(re.compile("/accounts/theme/")):
        page.get_by_role("button", name="dark", exact=False).click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    page.goto("/agents/")
    expect(root).to_have_attribute("data-bs-theme", "dark")
    open_menu(page, "alice")
    with page.expect_response(re.compile("/accounts/theme/")):
        page.get_by_role("button", name="light", exact=False).click()
    page.reload()
    expect(root).to_have_attribute("data-bs-theme", "light")


def test_the_pages_speak_korean_when_asked(open_page: Opener, stack: Stack) -> None:
    stack.running.manage("create_account", "--username", "bora", "--team", "Grid", "--password", PASSWORD)
    page = open_page()
    sign_in(page, "bora", PASSWORD)
    page.goto("/campaigns/")
    choices = page.locator(".side form[action$='/language/']")
    open_menu(page, "bora")
    choices.get_by_role("button", name="한국어").click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.get_by_role("heading", level=1)).to_have_text("캠페인")
    open_menu(page, "bora")
    choices.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")


def test_the_rest_interface_can_be_browsed_under_the_content_policy(page: Page) -> None:
    page.goto("/api/v1/docs/")
    page.locator(".opblock-tag").first.click()
    expect(page.locator(".opblock-summary-path").first).to_be_visible()


def test_a_page_has_labels_one_heading_and_room_on_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    wrong = {}
    for address in ON_A_PHONE:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        wrong[address] = problems(page)
    assert {address: found for address, found in wrong.items() if found} == {}


def test_the_check_itself_finds_what_is_wrong(open_page: Opener, signed_in: BrowserContext) -> None:
    page = open_page(signed_in)
    page.set_viewport_size(PHONE)
    page.set_content("<h1>A</h1><h1>B</h1><input><svg></svg><p id=a></p><p id=a></p><a href='#'></a><img>")
    found = " ".join(problems(page))
    for words in ("2 h1", "no language", "no label", "no name", "id twice: a", "no words", "no alt"):
        assert words in found


def test_every_kind_of_chart_is_drawn_by_the_browser_under_the_content_policy(page: Page) -> None:
    many = PARALLEL | {
        "rows": [[16384 * (1 + n % 64), n % 2, 1e6 * n] for n in range(1, 2001)],
        "ids": [],
        "ranges": [],
    }
    for _attempt in range(3):
        page.goto("/matrix/")
        page.wait_for_load_state("networkidle")
        # A script whose request Chromium broke off, as it does when an interface comes or goes, is asked for again.
        if page.evaluate("'matrix' in (window.Chart?.registry.controllers.items ?? {})"):
            break
    for kind, data in (CHARTS | {"many": many}).items():
        inked = page.evaluate(
            """async (data) => {
              const { drawChart } = await import("/static/js/charts/draw.js");
              const frame = document.createElement("div");
              frame.className = "chart-frame";
              const canvas = frame.appendChild(document.createElement("canvas"));
              canvas.setAttribute("aria-label", "chart");
              document.querySelector("main").append(frame);
              drawChart(canvas, data);
              await new Promise(requestAnimationFrame);
              const { data: pixels } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              return pixels.filter((value, place) => place % 4 === 3 && value > 0).length;
            }""",
            data,
        )
        assert inked > 2000, kind
    assert problems(page) == []


def test_whatever_goes_wrong_in_a_page_is_noted(chromium: Browser, stack: Stack) -> None:
    page = chromium.new_page(base_url=stack.running.address)
    watcher = Watcher(page)
    page.goto("/accounts/login/")
    assert watcher.take() == []
    page.evaluate("document.body.setAttribute('onclick', 'alert()')")
    page.evaluate("setTimeout(() => { throw new Error('no such thing'); })")
    page.evaluate("fetch('/nowhere/').then(() => fetch('http://127.0.0.1:9/').catch(() => {}))")
    page.wait_for_load_state("networkidle")
    page.goto("/nowhere/else/")
    noted = " ".join(watcher.take())
    for words in ("Content Security Policy", "no such thing", "/nowhere/: 404", "/nowhere/else/: 404"):
        assert words in noted
    watcher.allow(stack.running.address + "/nowhere/else/")
    page.goto("/nowhere/else/?again")
    assert watcher.take() == []
    page.close()
