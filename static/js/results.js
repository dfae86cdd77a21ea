// Draws the charts of result panels, also of those that htmx brings later, and refreshes them when told to.
import { lineChart } from "./charts.js";

async function fetchJson(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.json();
}

function drawPanels(root) {
  for (const panel of root.querySelectorAll("[data-chart-panel]")) {
    const canvas = panel.querySelector("canvas[data-chart]");
    if (canvas && !canvas.dataset.drawn) {
      canvas.dataset.drawn = "yes";
      lineChart(canvas, JSON.parse(canvas.dataset.chart));
    }
  }
}

async function drawSeries(root) {
  for (const place of root.querySelectorAll("[data-series-charts]:not([data-drawn])")) {
    // What is folded away is fetched when somebody unfolds it.
    const folded = place.closest("details:not([open])");
    if (folded) {
      folded.addEventListener("toggle", () => drawSeries(folded), { once: true });
      continue;
    }
    // Another call may have begun it while this one waited for an earlier place's data.
    if (place.dataset.drawn) continue;
    place.dataset.drawn = "yes";
    const { charts } = await fetchJson(place.dataset.url);
    for (const data of charts) {
      const frame = document.createElement("div");
      frame.className = "chart-frame chart-frame-small";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", data.metric.label);
      frame.append(canvas);
      place.append(frame);
      lineChart(canvas, data);
    }
  }
}

function draw(root) {
  drawPanels(root);
  drawSeries(root);
}

draw(document);
document.body.addEventListener("htmx:load", (event) => draw(event.detail.elt.parentElement ?? document));
