// Distributions as boxes: quartiles, whiskers, outliers as points, and the mean as a mark.
//
// {kind: "box",
//  metric: {name, label, unit, log?, min?, max?}, the y axis
//  x: {name, label, labels: [text]},              one place a group
//  series: [{label, boxes: [{x, n, min, q1, median, q3, max, whisker_low, whisker_high, mean?, outliers: [value],
//            points?: [value], url?, flags?}]}],          x is a place in the labels; `apps.bench.statistics` gives the rest
//  individual?: true,                             draws the single samples `boxes[].points`, too
//  lines?: [{axis: "y", value, label, style?}]}
//
// Whiskers end at the last value within 1.5 interquartile ranges of the box (Tukey, 1977); what lies beyond is an
// outlier, shown and never dropped. All in base units.
import { formatQuantity } from "../units.js";
import { annotationsOf } from "./lines.js";
import { COLOURS, MARKS, afterLines, axisStyle, baseOptions, boundsOf, css, faded, tickText, ticksOfUnit } from "./theme.js";

const FIGURES = [["max", "max"], ["q3", "Q3"], ["median", "median"], ["q1", "Q1"], ["min", "min"]];

/** Return one box as the plugin wants it. */
function elementOf(box, individual) {
  return {
    min: box.min, q1: box.q1, median: box.median, q3: box.q3, max: box.max,
    ...(box.mean === undefined || box.mean === null ? {} : { mean: box.mean }),
    whiskerMin: box.whisker_low, whiskerMax: box.whisker_high,
    outliers: box.outliers ?? [], items: individual ? box.points ?? [] : [],
    n: box.n, url: box.url, flags: box.flags,
  };
}

function boxDatasets(data, before = []) {
  return data.series.map((series, index) => {
    const label = series.label || data.metric.label;
    const colour = css(COLOURS[index % COLOURS.length]);
    const boxes = data.x.labels.map(() => null);
    for (const box of series.boxes) boxes[box.x] = elementOf(box, data.individual);
    return Object.assign(before.find((item) => item.label === label) ?? { label }, {
      data: boxes,
      borderColor: colour,
      medianColor: colour,
      backgroundColor: faded(colour),
      borderWidth: 1.5,
      outlierBackgroundColor: colour,
      outlierBorderColor: colour,
      outlierStyle: MARKS[index % MARKS.length],
      outlierRadius: 3,
      meanBackgroundColor: css("--bs-body-bg"),
      meanBorderColor: colour,
      meanStyle: "rectRot",
      meanRadius: 4,
      itemBackgroundColor: faded(colour),
      itemBorderColor: "transparent",
      itemRadius: data.individual ? 2 : 0,
      itemHitRadius: 0,
      pointStyle: "rect",
    });
  });
}

function boxLines({ raw, dataset }, unit) {
  const text = FIGURES.map(([name, word]) => `${word} ${formatQuantity(raw[name], unit)}`).join(", ");
  const mean = raw.mean === undefined ? "" : `, x̄ ${formatQuantity(raw.mean, unit)}`;
  return `${dataset.label}: ${text}${mean}, n = ${raw.n}`;
}

/** Return Chart.js' type, data and options for `data`; `before` are the datasets the chart has now. */
export function boxConfig(data, before) {
  const options = baseOptions(data.series.length);
  options.plugins.annotation = { annotations: annotationsOf({ ...data, x: { numeric: false } }) };
  options.plugins.tooltip = {
    callbacks: { label: (item) => boxLines(item, data.metric.unit), afterLabel: (item) => afterLines(item.raw) },
  };
  options.scales = {
    x: { ...axisStyle(data.x.label), type: "category", labels: data.x.labels },
    y: {
      ...axisStyle(data.metric.label),
      type: data.metric.log ? "logarithmic" : "linear",
      beginAtZero: false,
      grace: "5%",
      ...boundsOf(data.metric),
      ...ticksOfUnit(data.metric.unit, data.metric.log),
      ticks: { ...axisStyle("").ticks, callback: (value) => tickText(value, data.metric.unit) },
    },
  };
  return { type: "boxplot", data: { labels: data.x.labels, datasets: boxDatasets(data, before) }, options };
}
