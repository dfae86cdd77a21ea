// The keyboard on a chart: arrows go from point to point, which is said aloud; plus, minus and 0 zoom; Enter opens.
import { chartOn } from "./draw.js";

// A series without a figure at some place has a gap there.
const isThere = (point) => Boolean(point) && !Number.isNaN(point.y);

/** Return the point after a key, {datasetIndex, index}: left and right within a series, up and down between them. */
export function nextPoint(datasets, current, key) {
  const usable = datasets.map((set, index) => [set, index]).filter(([set]) => !set.hidden && !set.singles && set.data.some(isThere));
  if (!usable.length) return null;
  if (!current) return { datasetIndex: usable[0][1], index: usable[0][0].data.findIndex(isThere) };
  const at = Math.max(usable.findIndex(([, index]) => index === current.datasetIndex), 0);
  const turn = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
  const [set, datasetIndex] = usable[(at + turn + usable.length) % usable.length];
  let index = Math.min(current.index, set.data.length - 1);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  for (let next = index + step; step && next >= 0 && next < set.data.length; next += step) {
    if (isThere(set.data[next])) {
      index = next;
      break;
    }
  }
  if (key === "Home") index = set.data.findIndex(isThere);
  if (key === "End") index = set.data.findLastIndex(isThere);
  return { datasetIndex, index };
}

function show(chart, point, say) {
  const element = chart.getDatasetMeta(point.datasetIndex).data[point.index];
  if (!element || !isThere(chart.data.datasets[point.datasetIndex].data[point.index])) return;
  const at = element.getCenterPoint?.() ?? { x: element.x, y: element.y };
  chart.setActiveElements([point]);
  chart.tooltip.setActiveElements([point], at);
  chart.update("none");
  say([...(chart.tooltip.title ?? []), ...(chart.tooltip.body ?? []).flatMap((part) => [...part.lines, ...(part.after ?? [])])].join("; "));
}

/** Let the points of a canvas be gone through by keyboard; `say` gets the text of the one reached. */
export function pointKeys(canvas, say) {
  let current = null;
  canvas.addEventListener("keydown", (event) => {
    const chart = chartOn(canvas);
    if (!chart || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) {
      current = nextPoint(chart.data.datasets, current, event.key);
      if (current) show(chart, current, say);
    } else if (event.key === "Enter" && current) {
      const url = chart.data.datasets[current.datasetIndex].data[current.index]?.url;
      if (url) location.assign(url);
    } else if (event.key === "+" && chart.zoom) chart.zoom(1.4);
    else if (event.key === "-" && chart.zoom) chart.zoom(1 / 1.4);
    else if ((event.key === "0" || event.key === "Escape") && chart.resetZoom) chart.resetZoom("none");
    else return;
    event.preventDefault();
  });
}
