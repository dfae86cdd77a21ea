// Search over everything (Ctrl-K or /), the keys there are (?), and G with a letter to the pages of the menu.

const SINGLE_KEYS = "fathom-single-keys";
// Of each person by themselves: a tab outlives who signs out in it.
const RECENT = `fathom-recent-${document.body.dataset.person}`;
const MOST_RECENT = 6;
const AFTER_G_MS = 1200;

const palette = document.getElementById("palette");
const keys = document.getElementById("keys");
const text = document.getElementById("palette-text");
const recent = palette.querySelector(".palette-recent");
const single = document.getElementById("single-keys");
let goUntil = 0;

function hits() {
  return [...palette.querySelectorAll(".palette-hit")].filter((hit) => hit.offsetParent !== null);
}

function choose(hit) {
  for (const other of hits()) other.setAttribute("aria-selected", String(other === hit));
  if (!hit) {
    text.removeAttribute("aria-activedescendant");
    return;
  }
  text.setAttribute("aria-activedescendant", hit.id);
  hit.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = hits();
  if (!all.length) return;
  const place = all.findIndex((hit) => hit.getAttribute("aria-selected") === "true");
  choose(all[(place + step + all.length) % all.length]);
}

function recentPages() {
  try {
    return JSON.parse(sessionStorage.getItem(RECENT) ?? "[]");
  } catch {
    return [];
  }
}

/** Keep where the reader is, for this tab and this person only. */
function remember() {
  const here = { url: location.pathname + location.search, title: document.title.replace(/ · Fathom$/, "") };
  const pages = [here, ...recentPages().filter((page) => page.url !== here.url)].slice(0, MOST_RECENT + 1);
  sessionStorage.setItem(RECENT, JSON.stringify(pages));
}

function showRecent() {
  const pages = recentPages().filter((page) => page.url !== location.pathname + location.search).slice(0, MOST_RECENT);
  recent.replaceChildren();
  recent.hidden = Boolean(text.value) || !pages.length;
  if (recent.hidden) return;
  const title = document.createElement("p");
  title.className = "palette-group";
  title.textContent = recent.dataset.textRecent;
  const links = pages.map((page, place) => {
    const link = document.createElement("a");
    link.className = "palette-hit";
    link.id = `recent-${place}`;
    link.href = page.url;
    link.tabIndex = -1;
    link.textContent = page.title;
    return link;
  });
  recent.append(title, ...links);
}

function open() {
  keys.close();
  if (!palette.open) palette.showModal();
  text.select();
  showRecent();
  text.dispatchEvent(new CustomEvent("open-palette"));
}

function showKeys() {
  palette.close();
  single.checked = hasSingleKeys();
  keys.showModal();
}

function hasSingleKeys() {
  return localStorage.getItem(SINGLE_KEYS) !== "off";
}

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function onKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !hasSingleKeys()) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    event.preventDefault();
    open();
  } else if (event.key === "?") {
    showKeys();
  } else if (event.key === "g") {
    goUntil = Date.now() + AFTER_G_MS;
  } else if (Date.now() < goUntil) {
    goUntil = 0;
    document.querySelector(`[data-go="${CSS.escape(event.key.toLowerCase())}"]`)?.click();
  }
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) open();
  else if (event.target.closest("[data-keys]")) showKeys();
  else if (event.target === palette || event.target === keys) event.target.close();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    event.preventDefault();
    const chosen = hits().find((hit) => hit.getAttribute("aria-selected") === "true") ?? hits()[0];
    if (!chosen) return;
    if (event.ctrlKey || event.metaKey) window.open(chosen.href, "_blank", "noopener");
    else location.assign(chosen.href);
  }
});
text.addEventListener("input", showRecent);
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "palette-hits") choose(text.value ? hits()[0] : undefined);
});
single.addEventListener("change", () => localStorage.setItem(SINGLE_KEYS, single.checked ? "on" : "off"));
remember();
