// Draws a chart of any kind on a canvas, keeps it in step with the theme, and forgets it when its canvas goes.
//
// The data of a chart is JSON; its form stands at the top of the module of its kind: line.js, heat.js, box.js and
// parallel.js. In a page: <canvas role="img" aria-label="…" data-chart="{{ chart_json }}"> in a .chart-frame.
import { boxConfig } from "./box.js";
import { heatConfig } from "./heat.js";
import { lineConfig } from "./line.js";
import { drawParallel } from "./parallel.js";
import { css } from "./theme.js";

const live = new Set();
const CONFIGS = { line: lineConfig, heat: heatConfig, box: boxConfig };
// Along these axes one may zoom; a heat map's words need none.
const ZOOMED = { line: "xy", box: "y" };

function forgetRemoved() {
  for (const chart of live) {
    if (chart.canvas?.isConnected) continue;
    chart.destroy();
    live.delete(chart);
  }
}

/** Return the options of the zoom plugin: a drag marks what to look at, ctrl and the wheel go nearer. */
function zoomOptions(kind) {
  const mode = ZOOMED[kind];
  return {
    pan: { enabled: false },
    zoom: {
      mode,
      wheel: { enabled: true, modifierKey: "ctrl" },
      drag: { enabled: true, threshold: 12, borderColor: css("--fathom"), borderWidth: 1, backgroundColor: "rgba(90, 150, 180, .2)" },
    },
  };
}

/** Keep what the reader zoomed to, when a chart is drawn anew with more data. */
function keepZoom(chart, options) {
  if (!chart.isZoomedOrPanned?.()) return;
  for (const [id, { min, max }] of Object.entries(chart.getZoomedScaleBounds())) {
    if (options.scales[id]) Object.assign(options.scales[id], { min, max });
  }
}

function openPoint(event, chart) {
  const [hit] = chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, false);
  const url = hit && chart.data.datasets[hit.datasetIndex].data[hit.index]?.url;
  if (url) location.assign(url);
}

function configOf(data, before) {
  const kind = data.kind ?? "line";
  const config = CONFIGS[kind](data, before);
  if (ZOOMED[kind]) config.options.plugins.zoom = zoomOptions(kind);
  config.options.onClick = (event, _items, chart) => openPoint(event, chart);
  return config;
}

/**
 * Draw `data` on a canvas, or bring an existing chart up to date, a line chart in place, without a jump.
 *
 * Returns the chart, or null where Chart.js did not load; the table under the chart then has to do.
 */
export function drawChart(canvas, data) {
  if (!window.Chart) return null;
  forgetRemoved();
  const existing = [...live].find((chart) => chart.canvas === canvas);
  const isLine = (chart) => (chart.kind ?? "line") === "line";
  if (existing && isLine(existing.fathom) && isLine(data)) {
    existing.fathom = data;
    const { data: { datasets }, options } = configOf(data, existing.data.datasets);
    keepZoom(existing, options);
    existing.data.datasets = datasets;
    existing.options = options;
    existing.update("none");
    return existing;
  }
  existing?.destroy();
  live.delete(existing);
  const chart = data.kind === "parallel" ? drawParallel(canvas, data) : new window.Chart(canvas, configOf(data));
  chart.fathom = data;
  live.add(chart);
  return chart;
}

/** Return the chart on a canvas, if there is one. */
export function chartOn(canvas) {
  return [...live].find((chart) => chart.canvas === canvas);
}

document.addEventListener("themechange", () => {
  forgetRemoved();
  for (const chart of [...live]) drawChart(chart.canvas, chart.fathom);
});
