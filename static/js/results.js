// Draws the charts of a page, also of the parts that htmx brings later, each with its tools.
import { drawChart } from "./charts/draw.js";
import { addTools } from "./charts/tools.js";

async function fetchJson(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.json();
}

/** Draw what stands in the page: data-chart holds the chart's JSON, data-chart-url says where to fetch it. */
async function drawCanvases(root) {
  for (const canvas of root.querySelectorAll("canvas[data-chart]:not([data-drawn]), canvas[data-chart-url]:not([data-drawn])")) {
    canvas.dataset.drawn = "yes";
    const data = canvas.dataset.chart ? JSON.parse(canvas.dataset.chart) : await fetchJson(canvas.dataset.chartUrl);
    if (drawChart(canvas, data)) addTools(canvas);
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
      const part = document.createElement("div");
      const frame = document.createElement("div");
      frame.className = "chart-frame chart-frame-small";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", data.metric.label);
      canvas.dataset.table = "make";
      frame.append(canvas);
      part.append(frame);
      place.append(part);
      if (drawChart(canvas, data)) addTools(canvas);
    }
  }
}

function draw(root) {
  drawCanvases(root);
  drawSeries(root);
}

draw(document);
document.body.addEventListener("htmx:load", (event) => draw(event.detail.elt.parentElement ?? document));
