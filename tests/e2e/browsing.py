"""What the tests in a browser share: signing in, and checks that every page has to pass."""

from typing import Any

from playwright.sync_api import Page, ViewportSize

PHONE: ViewportSize = {"width": 390, "height": 844}
# Runs in the page; returns what somebody who does not see it, or has a small screen, would stumble over.
_CHECK = """() => {
  const wrong = [];
  const named = (element) => {
    const by = (element.getAttribute("aria-labelledby") ?? "").split(" ")
      .map((id) => document.getElementById(id)?.textContent.trim()).join("");
    return by || element.getAttribute("aria-label")?.trim() || element.getAttribute("title")?.trim();
  };
  const what = (element) => element.outerHTML.slice(0, 120);
  const heads = document.querySelectorAll("h1").length;
  if (heads !== 1) wrong.push(`${heads} h1`);
  if (!document.documentElement.lang) wrong.push("no language");
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const label = [...(field.labels ?? [])].map((item) => item.textContent.trim()).join("");
    if (!label && !named(field)) wrong.push(`no label: ${what(field)}`);
  }
  for (const part of document.querySelectorAll("button, a[href]")) {
    if (part.checkVisibility() && !part.textContent.trim() && !named(part)) wrong.push(`no words: ${what(part)}`);
  }
  for (const image of document.querySelectorAll("img")) {
    if (!image.hasAttribute("alt")) wrong.push(`no alt: ${what(image)}`);
  }
  for (const drawing of document.querySelectorAll("svg, canvas")) {
    const title = drawing.querySelector(":scope > title")?.textContent.trim();
    const hidden = drawing.closest("[aria-hidden=true]");
    if (!hidden && !title && !named(drawing)) wrong.push(`no name: ${what(drawing)}`);
  }
  const seen = new Set();
  for (const element of document.querySelectorAll("[id]")) {
    if (seen.has(element.id)) wrong.push(`id twice: ${element.id}`);
    seen.add(element.id);
  }
  const wider = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wider > 0) wrong.push(`${wider} px too wide`);
  return wrong;
}"""


def sign_in(page: Page, username: str, password: str) -> None:
    """Sign in on the page that asks for it, and wait for the first page."""
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/")


def problems(page: Page) -> list[str]:
    """Return what a person with a screen reader or a phone would stumble over on the page as it is."""
    found: Any = page.evaluate(_CHECK)
    return [str(item) for item in found]
