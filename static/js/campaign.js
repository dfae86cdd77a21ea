// Keeps a campaign's page up to date: a WebSocket says what changed, the page fetches just that; polling if it is cut.

const page = document.querySelector("[data-live]");
const POLL_MS = 5000;
const DRAW_MS = 1000;
// A socket that is open and says nothing for so long may have lost its way: the page asks by itself.
const SILENT_MS = 30000;
const WAITING = new Set(["draft", "scheduled"]);
const LAST = new Set(["finished", "cancelled", "draft"]);
// Codes with which apps/campaigns/consumers.py closes the socket of one who may not see the campaign any more.
const ENDS = { 4401: "textSignedOut", 4403: "textNotShared" };
// There are as many sockets as may be open: the page asks by itself, and tries again when some may have gone.
const FULL = 4429;
const LONGEST_RETRY_MS = 30000;
let retryMs = 1000;
let polling = null;
let wasCut = false;
let heardAt = Date.now();
let redrawing = null;
// What is to be fetched once what is being fetched has come: {kinds, experiments (null: all)}.
let wanted = null;
let isBusy = false;
// The server has closed the socket for good.
let isOver = false;

function state() {
  return document.getElementById("campaign-status").dataset.state;
}

/** Fetch a part; to be awaited, for of two that are asked for while one is under way htmx forgets the first. */
async function swap(url, target, how = "outerHTML") {
  try {
    await window.htmx.ajax("GET", url, { target, swap: how });
  } catch {
    // The server is away: the next message or poll brings the part.
  }
}

/** Fetch the page anew for its buttons and its drawing; what the reader looks at stays where it is. */
async function renewFrame() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of [".page-actions", ".topology-frame"]) {
    const successor = fresh.querySelector(part);
    if (successor) document.querySelector(part)?.replaceWith(successor);
  }
}

/** Draw anew what is busy: soon, but no more often than a reader can follow. */
function redraw() {
  if (redrawing || !page.querySelector(".topology-frame")) return;
  redrawing = setTimeout(() => {
    redrawing = null;
    refresh(new Set(["drawing"]), new Set());
  }, DRAW_MS);
}

/** Bring up to date what changed, one part after the other; what changes meanwhile comes in the next round. */
async function refresh(kinds, experiments) {
  const both = wanted && wanted.experiments && experiments;
  wanted = {
    kinds: new Set([...(wanted?.kinds ?? []), ...kinds]),
    experiments: wanted ? both && new Set([...wanted.experiments, ...experiments]) : experiments,
  };
  if (isBusy || isOver) return;
  isBusy = true;
  try {
    while (wanted) {
      const round = wanted;
      wanted = null;
      await renew(round.kinds, round.experiments);
    }
  } finally {
    isBusy = false;
  }
}

async function renew(kinds, experiments) {
  const before = state();
  if (kinds.has("trial") || kinds.has("campaign") || kinds.has("waits")) redraw();
  const drawing = page.querySelector(".topology-frame");
  if (drawing && kinds.has("drawing")) await swap(page.dataset.drawing, drawing, "innerHTML");
  await swap(page.dataset.status, "#campaign-status");
  if (kinds.has("event") || kinds.has("campaign")) await swap(page.dataset.events, "#campaign-events");
  const findings = page.querySelector("[data-findings-panel]");
  if (findings && (kinds.has("findings") || kinds.has("campaign"))) {
    await swap(page.dataset.findings, findings, "innerHTML");
  }
  for (const place of page.querySelectorAll("[data-panel]")) {
    if (experiments === null || experiments.has(Number(place.dataset.experiment))) {
      const panel = place.querySelector("[data-chart-panel]");
      const form = panel?.querySelector("form");
      const query = form ? `?${new URLSearchParams(new FormData(form))}` : "";
      // Somebody who is choosing in the panel is not interrupted; the next change brings it up to date.
      if (!panel?.contains(document.activeElement)) await swap(place.dataset.panel + query, place, "innerHTML");
    }
  }
  if (state() === before) return;
  // Before a campaign runs there are no panels for results.
  if (WAITING.has(before)) location.reload();
  else await renewFrame();
}

function poll(on) {
  clearInterval(polling);
  polling = on ? setInterval(() => {
    if (!LAST.has(state())) refresh(new Set(["event", "trial", "findings"]), null);
  }, POLL_MS) : null;
}

// What a campaign waits for may change without anything of it having changed: another lets go of a link, a time comes.
setInterval(() => {
  if (polling !== null || !("waits" in document.getElementById("campaign-status").dataset)) return;
  // The message of a node that is lost may have been missed: the drawing must not say less than the words.
  refresh(new Set(["drawing"]), new Set());
}, POLL_MS);

setInterval(() => {
  if (polling !== null || LAST.has(state()) || Date.now() - heardAt < SILENT_MS) return;
  heardAt = Date.now();
  refresh(new Set(["event", "trial", "findings"]), null);
}, POLL_MS);

/** Say why the page is no longer kept up to date, and leave it at that. */
function end(text) {
  isOver = true;
  poll(false);
  const note = document.createElement("div");
  note.className = "alert alert-warning";
  note.setAttribute("role", "alert");
  const link = document.createElement("a");
  link.className = "alert-link";
  link.href = location.href;
  link.textContent = page.dataset.textReload;
  note.append(text, " ", link);
  document.getElementById("messages").append(note);
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}${page.dataset.socket}`);
  socket.addEventListener("open", () => {
    retryMs = 1000;
    poll(false);
    // What changed between the page's making, or the cut, and now.
    refresh(new Set(["event", "findings", "drawing"]), wasCut ? null : new Set());
    wasCut = false;
  });
  socket.addEventListener("message", (event) => {
    heardAt = Date.now();
    const { kinds, experiments } = JSON.parse(event.data);
    refresh(new Set(kinds), new Set(experiments));
  });
  socket.addEventListener("close", (event) => {
    if (event.code in ENDS) return end(page.dataset[ENDS[event.code]]);
    wasCut = true;
    poll(true);
    if (event.code === FULL) retryMs = LONGEST_RETRY_MS;
    setTimeout(connect, retryMs);
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  });
}

/** Ask before traffic is stopped, without leaving the page; the link behind the button asks on a page of its own. */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-stop]");
  const dialog = document.getElementById("stop-dialog");
  if (!button || !dialog?.showModal) return;
  event.preventDefault();
  dialog.showModal();
});

connect();
