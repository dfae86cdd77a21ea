// The tools of a chart: log axes, single samples, zoom, its table, itself as PNG or SVG; and its keyboard.
import { chartOn, drawChart } from "./draw.js";
import { pointKeys } from "./keys.js";
import { tableOf } from "./table.js";

// How much nearer one press goes.
const NEARER = 1.4;

function positive(values) {
  return values.some((value) => value > 0);
}

/** Return which tools a chart can use. */
export function toolsOf(data) {
  const kind = data.kind ?? "line";
  const points = kind === "line" ? data.series.flatMap((series) => series.points) : [];
  const boxes = kind === "box" ? data.series.flatMap((series) => series.boxes) : [];
  return new Set([
    ...(kind === "line" && data.x.numeric && data.x.unit !== "time" && positive(points.map((point) => point.x)) ? ["log-x"] : []),
    ...(positive(points.map((point) => point.y)) || positive(boxes.map((box) => box.max)) ? ["log-y"] : []),
    ...(kind === "heat" && positive(data.cells.map((cell) => cell.v)) ? ["log-shade"] : []),
    ...([...points, ...boxes].some((item) => item.points?.length) ? ["individual"] : []),
    ...(kind === "line" || kind === "box" ? ["nearer", "farther", "whole"] : []),
    ...(kind === "parallel" ? ["all"] : []),
  ]);
}

/** Return whether a tool that stays pressed is on. */
function isOn(data, tool) {
  return Boolean({ "log-x": data.x?.log, "log-y": data.metric?.log, "log-shade": data.metric?.log, individual: data.individual }[tool]);
}

const TOOLS = {
  "log-x": ({ fathom }) => { fathom.x.log = !fathom.x.log; },
  "log-y": ({ fathom }) => { fathom.metric.log = !fathom.metric.log; },
  "log-shade": ({ fathom }) => { fathom.metric.log = !fathom.metric.log; },
  individual: ({ fathom }) => { fathom.individual = !fathom.individual; },
  nearer: (chart) => chart.zoom(NEARER),
  farther: (chart) => chart.zoom(1 / NEARER),
  whole: (chart) => chart.resetZoom("none"),
  all: (chart) => chart.ranges.forEach((_, place) => chart.brush(place, null)),
};
const STAYING = new Set(["log-x", "log-y", "log-shade", "individual"]);

/** Return the data of a chart as the reader sees it now: what is hidden left out, with the bounds of a zoom. */
export function shownData(chart) {
  const data = structuredClone(chart.fathom);
  if (data.kind === "parallel") return { ...data, ranges: chart.ranges };
  if (data.kind !== "heat") {
    data.series = data.series.filter((_, index) => chart.isDatasetVisible(index));
  }
  if (chart.isZoomedOrPanned?.()) {
    const { x, y } = chart.getZoomedScaleBounds();
    if (x && data.x.numeric) Object.assign(data.x, { min: x.min, max: x.max });
    if (y) Object.assign(data.metric, { min: y.min, max: y.max });
  }
  return data;
}

function showChosen(canvas, status, table, words) {
  const chart = chartOn(canvas);
  const { axes, rows } = chart.fathom;
  const count = words.textChosen.replace("{chosen}", chart.chosen.length).replace("{all}", rows.length);
  const place = chart.active;
  const range = place >= 0 ? chart.ranges[place] ?? [0, 1] : null;
  const where = range ? ` · ${axes[place].label}: ${chart.textAt(place, range[0])} – ${chart.textAt(place, range[1])}` : "";
  status.textContent = count + where;
  if (table?.open) table.lastElementChild.replaceChildren(tableOf(chart.fathom, words, chart.chosen));
}

function press(canvas, tools, button) {
  const chart = chartOn(canvas);
  const name = button.dataset.tool;
  TOOLS[name](chart);
  if (!STAYING.has(name)) return;
  // Another scale has other bounds.
  chart.resetZoom?.("none");
  drawChart(canvas, chart.fathom);
  button.setAttribute("aria-pressed", String(isOn(chart.fathom, name)));
}

function fillTable(canvas, table, words) {
  const chart = chartOn(canvas);
  if (table.open && chart) table.lastElementChild.replaceChildren(tableOf(chart.fathom, words, chart.chosen));
}

/** Put the tools beside a chart that is drawn; the page's <template id="chart-tools"> holds them with their words. */
export function addTools(canvas) {
  const template = document.getElementById("chart-tools");
  const frame = canvas.closest(".chart-frame");
  const chart = chartOn(canvas);
  if (!template || !frame || !chart) return;
  const parts = template.content.cloneNode(true);
  const tools = parts.querySelector("[role=toolbar]");
  const status = parts.querySelector("[role=status]");
  const table = parts.querySelector("details");
  const words = template.dataset;
  const useful = toolsOf(chart.fathom);
  for (const button of tools.querySelectorAll("[data-tool]")) {
    button.hidden = !useful.has(button.dataset.tool);
    if (STAYING.has(button.dataset.tool)) button.setAttribute("aria-pressed", String(isOn(chart.fathom, button.dataset.tool)));
    button.addEventListener("click", () => press(canvas, tools, button));
  }
  const form = tools.querySelector("form");
  form.addEventListener("submit", () => { form.elements.chart.value = JSON.stringify(shownData(chartOn(canvas))); });
  form.elements.name.value = canvas.dataset.name ?? canvas.getAttribute("aria-label") ?? "";
  // A page that has a table of the same figures under its chart needs no second one.
  if (canvas.dataset.table === "make" || chart.fathom.kind === "parallel") {
    table.addEventListener("toggle", () => fillTable(canvas, table, words));
    table.hidden = false;
  }
  frame.before(tools);
  frame.after(status, table);
  canvas.tabIndex = 0;
  if (chart.fathom.kind === "parallel") {
    status.classList.remove("visually-hidden");
    canvas.addEventListener("brushchange", () => showChosen(canvas, status, table, words));
    showChosen(canvas, status, table, words);
  } else pointKeys(canvas, (text) => { status.textContent = text; });
}
