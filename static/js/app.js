// What every page does: CSRF and errors of htmx, theme, copy buttons, forms that submit on change, messages.

const words = document.body.dataset;
const SHOWN_MS = 8000;

/** Show a passing message to the reader and to screen readers; `level` is one of Bootstrap's. */
export function announce(text, level = "info") {
  const line = document.createElement("div");
  line.className = `alert alert-${level}`;
  line.textContent = text;
  document.getElementById("toasts").append(line);
  setTimeout(() => line.remove(), SHOWN_MS);
}

function reasonOf(xhr) {
  try {
    return JSON.parse(xhr.responseText).detail ?? words.textError;
  } catch {
    return words.textError;
  }
}

document.body.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = words.csrf;
});

// Whoever was signed out meanwhile gets the sign-in as a page, not in the place of a part of one.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.responseURL && new URL(xhr.responseURL).pathname === words.loginPath) {
    event.detail.shouldSwap = false;
    location.assign(`${words.loginPath}?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
});
document.body.addEventListener("htmx:responseError", (event) => announce(reasonOf(event.detail.xhr), "danger"));
document.body.addEventListener("htmx:sendError", () => announce(words.textOffline, "warning"));

// What scrolls sideways must be reachable by keyboard.
for (const frame of document.querySelectorAll(".table-responsive")) {
  if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
}

async function copy(element) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(element.textContent);
    return;
  }
  // The clipboard's interface is for HTTPS only; a selection can be copied anywhere.
  const selection = getSelection();
  selection.selectAllChildren(element);
  document.execCommand("copy");
  selection.removeAllRanges();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await copy(document.querySelector(button.dataset.copy));
  const before = button.textContent;
  button.textContent = words.textCopied;
  button.classList.add("copied");
  setTimeout(() => {
    button.textContent = before;
    button.classList.remove("copied");
  }, 1500);
});

document.addEventListener("change", (event) => {
  if (event.target.closest("form[data-submit-on-change]")) event.target.form.requestSubmit();
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-theme-form]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const chosen = event.submitter.value;
  document.dispatchEvent(new CustomEvent("themechoice", { detail: chosen }));
  for (const button of form.querySelectorAll("button")) {
    const current = button.value === chosen;
    button.classList.toggle("btn-secondary", current);
    button.classList.toggle("btn-outline-secondary", !current);
    button.toggleAttribute("aria-current", current);
  }
  const body = new FormData(form);
  body.set("theme", chosen);
  const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Requested-With": "fetch" } });
  if (!answer.ok) announce(words.textError, "danger");
});
