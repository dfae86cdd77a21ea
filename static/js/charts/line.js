// Series with 95 % intervals over a factor or over time, lines of theory, single samples, log axes.
//
// {kind: "line" (also where no kind is given),
//  metric: {name, label, unit, log?, min?, max?}, the y axis; min and max bound what is shown
//  x: {name, label, unit, numeric, log?, min?, max?},    unit "time": seconds since the epoch, shown as dates
//  series: [{label, points: [{x, y, low?, high?, n?, points?: [value], url?, note?, flagged?, flags?, hollow?}]}],
//  individual?: true,                             draws the single samples `points[].points`, too
//  lines?: [{axis: "x" | "y", value, label, style?: "theory" | "change" | "dismissed", from?, to?}]}
//
// All in base units. Without `numeric` x is a word, and points are not joined. `url` opens on a click; `note` is a
// further line of the tooltip; a point of which figures are `flagged` is hollow, `flags` says with what, and `hollow`
// which of its `points` (places from 0) they are; `from` and `to` bound a line on the other axis.
import { formatQuantity } from "../units.js";
import { annotationsOf, linesOf } from "./lines.js";
import {
  COLOURS, DASHES, MARKS, afterLines, axisStyle, baseOptions, boundsOf, css, faded, formatMoment, isNumber, tickText, ticksOfUnit, timeTicks,
} from "./theme.js";

// More points than this draw no marks, only the line.
const MARKED_POINTS = 60;

function xsOf(data) {
  const found = new Set(data.series.flatMap((series) => series.points.map((point) => point.x)));
  return data.x.numeric ? [...found].filter(isNumber).sort((a, b) => a - b) : [...found].map(String);
}

function pointOf(point, data) {
  const log = Boolean(data.metric.log);
  return {
    x: data.x.numeric ? point.x : String(point.x),
    y: isNumber(point.y) ? point.y : NaN,
    // Without an interval there is no bar at all, not one of no length.
    ...(isNumber(point.low) && isNumber(point.high) && (!log || point.low > 0)
      ? { yMin: point.low, yMax: point.high } : {}),
    n: point.n,
    ...(point.url ? { url: point.url } : {}),
    ...(point.note ? { note: point.note } : {}),
    ...(point.flagged ? { flagged: point.flagged, flags: point.flags } : {}),
  };
}

function pointsOf(series, data) {
  const shown = series.points
    .filter((point) => !data.x.numeric || (isNumber(point.x) && (!data.x.log || point.x > 0)))
    .filter((point) => !data.metric.log || point.y > 0);
  if (data.x.numeric) return shown.map((point) => pointOf(point, data));
  // Charts with error bars stand a point at the word of its own place, so every word has one.
  const at = new Map(shown.map((point) => [String(point.x), point]));
  return xsOf(data).map((x) => (at.has(x) ? pointOf(at.get(x), data) : { x, y: NaN }));
}

function singlesOf(series, data) {
  return series.points.flatMap((point) => (point.points ?? [])
    .map((y, place) => ({ x: data.x.numeric ? point.x : String(point.x), y, ...(point.hollow?.includes(place) ? { flagged: 1 } : {}) }))
    .filter(({ y }) => isNumber(y) && (!data.metric.log || y > 0)));
}

function styleOf(index, points, joined) {
  const colour = css(COLOURS[index % COLOURS.length]);
  return {
    borderColor: colour,
    backgroundColor: colour,
    errorBarColor: colour,
    errorBarWhiskerColor: colour,
    errorBarLineWidth: 1.5,
    errorBarWhiskerLineWidth: 1.5,
    errorBarWhiskerSize: 12,
    // What a flag casts doubt on is hollow: it is told apart without colour, too.
    pointWithErrorBarBackgroundColor: ({ raw }) => (raw?.flagged ? css("--bs-body-bg") : colour),
    borderWidth: 2,
    borderDash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length],
    pointStyle: MARKS[index % MARKS.length],
    // Not "pointRadius": the element that carries the error bar is no plain point.
    radius: points.length > MARKED_POINTS && joined ? 0 : 4,
    hoverRadius: 6,
    spanGaps: false,
    // Between words there is nothing to interpolate.
    showLine: joined,
  };
}

/** Return the datasets, those of before reused by label, so that what a reader hid stays hidden. */
function datasets(data, before = []) {
  const means = data.series.map((series, index) => {
    const label = series.label || data.metric.label;
    const points = pointsOf(series, data);
    const dataset = before.find((item) => item.label === label && !item.singles) ?? { label };
    return Object.assign(dataset, styleOf(index, points, Boolean(data.x.numeric)), { data: points });
  });
  if (!data.individual) return means;
  const singles = data.series.map((series, index) => ({
    ...styleOf(index, [], false),
    label: means[index].label,
    singles: true,
    // Several stand at one word, which those with error bars cannot.
    type: "line",
    backgroundColor: faded(css(COLOURS[index % COLOURS.length]), 40),
    pointBackgroundColor: ({ raw }) => (raw?.flagged ? css("--bs-body-bg") : faded(css(COLOURS[index % COLOURS.length]), 40)),
    pointBorderWidth: ({ raw }) => (raw?.flagged ? 1.5 : 0),
    borderWidth: 0,
    radius: 3,
    hidden: means[index].hidden,
    data: singlesOf(series, data),
  }));
  return [...means, ...singles];
}

function xScale(data, common) {
  const xs = xsOf(data);
  if (!data.x.numeric) return { ...common, type: "category", labels: xs, offset: true };
  const scale = { ...common, type: data.x.log ? "logarithmic" : "linear" };
  scale.ticks = { ...common.ticks, callback: (value) => tickText(value, data.x.unit) };
  const marks = linesOf(data).filter((line) => line.axis === "x").map((line) => line.value);
  const all = [...xs, ...marks].filter((value) => !data.x.log || value > 0);
  if (!all.length) return scale;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (data.x.log) {
    // Ticks at the measured values: a sweep by doubling has no round decades.
    scale.min = low / 1.2;
    scale.max = high * 1.2;
    scale.afterBuildTicks = (axis) => { axis.ticks = xs.map((value) => ({ value })); };
  } else if (data.x.unit === "time") {
    const room = (high - low || 86400) * 0.02;
    scale.min = low - room;
    scale.max = high + room;
    scale.afterBuildTicks = (axis) => { axis.ticks = timeTicks(axis.min, axis.max).map((value) => ({ value })); };
  } else {
    scale.suggestedMin = low;
    scale.suggestedMax = high;
    Object.assign(scale, ticksOfUnit(data.x.unit));
  }
  return Object.assign(scale, boundsOf(data.x));
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
    ...boundsOf(data.metric),
    ...ticksOfUnit(data.metric.unit, data.metric.log),
    ticks: { ...common.ticks, callback: (value) => tickText(value, data.metric.unit) },
  };
}

function tooltipLine(item, data) {
  const { y, yMin, yMax, n } = item.raw;
  const unit = data.metric.unit;
  const spread = yMax > yMin ? ` (${formatQuantity(yMin, unit)} – ${formatQuantity(yMax, unit)})` : "";
  return `${item.dataset.label}: ${formatQuantity(y, unit)}${spread}${n ? `, n = ${n}` : ""}`;
}

function xText(item, data) {
  if (!data.x.numeric) return item?.label;
  return data.x.unit === "time" ? formatMoment(item?.parsed.x ?? 0) : formatQuantity(item?.parsed.x, data.x.unit);
}

/** Return Chart.js' type, data and options for `data`; `before` are the datasets the chart has now. */
export function lineConfig(data, before) {
  const options = baseOptions(data.series.length);
  options.plugins.legend.labels.filter = (item, { datasets: shown }) => !shown[item.datasetIndex].singles;
  options.plugins.annotation = { annotations: annotationsOf(data) };
  options.plugins.tooltip = {
    callbacks: {
      title: ([item]) => xText(item, data),
      label: (item) => tooltipLine(item, data),
      afterLabel: (item) => afterLines(item.raw),
    },
  };
  options.scales = { x: xScale(data, axisStyle(data.x.label)), y: yScale(data, axisStyle(data.metric.label)) };
  return { type: "lineWithErrorBars", data: { datasets: datasets(data, before) }, options };
}
