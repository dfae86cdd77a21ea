// Charts of results: series with 95 % intervals, lines of theory, log axes; colours follow the theme.
import { formatQuantity, formatTick } from "./units.js";

const charts = new Set();
const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6"];
// Colour is never the only sign: marks differ too, and beyond six series the dashes.
const MARKS = ["circle", "rect", "triangle", "rectRot", "crossRot", "star"];
const DASHES = [[], [6, 3], [2, 2]];
// More points than this draw no marks, only the line.
const MARKED_POINTS = 60;

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function xsOf(data) {
  const found = new Set(data.series.flatMap((series) => series.points.map((point) => point.x)));
  return data.x.numeric ? [...found].filter(isNumber).sort((a, b) => a - b) : [...found].map(String);
}

/** Return the lines that can be drawn: a mark on the x axis needs numbers there. */
function linesOf(data) {
  return (data.lines ?? []).filter((line) => isNumber(line.value) && (line.axis === "y" || data.x.numeric));
}

function annotations(data) {
  const drawn = linesOf(data).map((line, index) => [`line${index}`, {
    type: "line",
    scaleID: line.axis,
    value: line.value,
    borderColor: css("--chart-theory"),
    borderWidth: 1.5,
    borderDash: [6, 4],
    label: {
      display: true,
      content: line.label,
      position: line.axis === "y" ? "start" : "end",
      yAdjust: line.axis === "y" ? -10 : 0,
      backgroundColor: css("--bs-body-bg"),
      color: css("--chart-theory"),
      font: { size: 11, weight: "normal" },
      padding: 2,
    },
  }]);
  return Object.fromEntries(drawn);
}

function pointsOf(series, data) {
  const log = Boolean(data.metric.log);
  return series.points
    .filter((point) => !data.x.numeric || (isNumber(point.x) && (!data.x.log || point.x > 0)))
    .filter((point) => !log || point.y > 0)
    .map((point) => ({
      x: data.x.numeric ? point.x : String(point.x),
      y: isNumber(point.y) ? point.y : NaN,
      // Without an interval there is no bar at all, not one of no length.
      ...(isNumber(point.low) && isNumber(point.high) && (!log || point.low > 0)
        ? { yMin: point.low, yMax: point.high } : {}),
      n: point.n,
    }));
}

function styleOf(index, points) {
  const colour = css(COLOURS[index % COLOURS.length]);
  return {
    borderColor: colour,
    backgroundColor: colour,
    errorBarColor: colour,
    errorBarWhiskerColor: colour,
    errorBarLineWidth: 1.5,
    errorBarWhiskerLineWidth: 1.5,
    errorBarWhiskerSize: 12,
    borderWidth: 2,
    borderDash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length],
    pointStyle: MARKS[index % MARKS.length],
    // Not "pointRadius": the element that carries the error bar is no plain point.
    radius: points.length > MARKED_POINTS ? 0 : 4,
    hoverRadius: 6,
    spanGaps: false,
  };
}

/** Return the datasets, those of before reused by label, so that what a reader hid stays hidden. */
function datasets(data, before = []) {
  return data.series.map((series, index) => {
    const label = series.label || data.metric.label;
    const points = pointsOf(series, data);
    const dataset = before.find((item) => item.label === label) ?? { label };
    return Object.assign(dataset, styleOf(index, points), { data: points });
  });
}

function xScale(data, common) {
  const xs = xsOf(data);
  if (!data.x.numeric) return { ...common, type: "category", labels: xs };
  const scale = { ...common, type: data.x.log ? "logarithmic" : "linear" };
  scale.ticks = { ...common.ticks, callback: (value) => formatTick(value, data.x.unit) };
  const marks = linesOf(data).filter((line) => line.axis === "x").map((line) => line.value);
  const all = [...xs, ...marks].filter((value) => !data.x.log || value > 0);
  if (!all.length) return scale;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (data.x.log) {
    // Ticks at the measured values: a sweep by doubling has no round decades.
    scale.min = low / 1.2;
    scale.max = high * 1.2;
    scale.afterBuildTicks = (axis) => { axis.ticks = xs.map((value) => ({ value })); };
  } else {
    scale.suggestedMin = low;
    scale.suggestedMax = high;
  }
  return scale;
}

function yScale(data, common) {
  const means = data.series.flatMap((series) => series.points.map((point) => point.y)).filter(isNumber);
  const highest = Math.max(0, ...linesOf(data).filter((line) => line.axis === "y").map((line) => line.value));
  return {
    ...common,
    type: data.metric.log ? "logarithmic" : "linear",
    beginAtZero: !data.metric.log,
    // Of what is never negative, the interval of a few samples may be; the axis need not follow it there.
    ...(!data.metric.log && means.every((mean) => mean >= 0) ? { min: 0 } : {}),
    suggestedMax: highest * 1.1,
    ticks: { ...common.ticks, callback: (value) => formatTick(value, data.metric.unit) },
  };
}

function scales(data) {
  const common = (text) => ({
    title: { display: true, text, color: css("--bs-body-color") },
    grid: { color: css("--bs-border-color") },
    border: { color: css("--bs-border-color") },
    ticks: { color: css("--bs-secondary-color"), maxRotation: 45, autoSkipPadding: 8 },
  });
  return { x: xScale(data, common(data.x.label)), y: yScale(data, common(data.metric.label)) };
}

function tooltipLine(item, data) {
  const { y, yMin, yMax, n } = item.raw;
  const unit = data.metric.unit;
  const spread = yMax > yMin ? ` (${formatQuantity(yMin, unit)} – ${formatQuantity(yMax, unit)})` : "";
  return `${item.dataset.label}: ${formatQuantity(y, unit)}${spread}${n ? `, n = ${n}` : ""}`;
}

function options(data) {
  window.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", axis: "xy", intersect: false },
    scales: scales(data),
    plugins: {
      legend: {
        display: data.series.length > 1,
        position: "bottom",
        labels: { color: css("--bs-body-color"), usePointStyle: true, boxWidth: 8, boxHeight: 8 },
      },
      annotation: { annotations: annotations(data) },
      tooltip: {
        callbacks: {
          title: ([item]) => (data.x.numeric ? formatQuantity(item?.parsed.x, data.x.unit) : item?.label),
          label: (item) => tooltipLine(item, data),
        },
      },
    },
  };
}

function forgetRemoved() {
  for (const chart of charts) {
    if (chart.canvas?.isConnected) continue;
    chart.destroy();
    charts.delete(chart);
  }
}

/**
 * Draw `data` on a canvas, or bring an existing chart up to date in place, without a jump.
 *
 * data: {metric: {label, unit, log?}, x: {label, unit, numeric, log}, series: [{label, points: [{x, y, low?, high?,
 * n?}]}], lines: [{axis: "x" | "y", value, label}]}, all in base units. Returns the chart, or null where Chart.js did
 * not load; the table under the chart then has to do.
 */
export function lineChart(canvas, data) {
  if (!window.Chart) return null;
  forgetRemoved();
  const existing = window.Chart.getChart(canvas);
  if (existing) {
    existing.fathom = data;
    existing.data.datasets = datasets(data, existing.data.datasets);
    existing.options = options(data);
    existing.update("none");
    return existing;
  }
  const chart = new window.Chart(canvas, {
    type: "lineWithErrorBars",
    data: { datasets: datasets(data) },
    options: options(data),
  });
  chart.fathom = data;
  charts.add(chart);
  return chart;
}

document.addEventListener("themechange", () => {
  forgetRemoved();
  for (const chart of charts) lineChart(chart.canvas, chart.fathom);
});
