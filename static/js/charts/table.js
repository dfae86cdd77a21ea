// The figures of a chart as a table, for charts that have none beside them.
import { formatQuantity } from "../units.js";
import { formatMoment, isNumber } from "./theme.js";

// More chosen runs than this are not listed; a narrower choice shows them.
const LISTED = 100;

function range(low, high, unit) {
  return isNumber(low) && isNumber(high) ? `${formatQuantity(low, unit)} – ${formatQuantity(high, unit)}` : "–";
}

/** Return how many figures something stands for, with the flags that cast doubt on them. */
function numberOf({ n, flags }) {
  return flags ? `${n ?? ""} ⚑ ${flags}`.trim() : n ?? "–";
}

function lineRows(data, words) {
  const unit = data.metric.unit;
  const x = (value) => (data.x.unit === "time" ? formatMoment(value) : data.x.numeric ? formatQuantity(value, data.x.unit) : value);
  return {
    head: [data.x.label, words.textSeries, data.metric.label, words.textInterval, "n"],
    body: data.series.flatMap((series) => series.points.map((point) => (
      [{ text: x(point.x), url: point.url }, series.label || data.metric.label, formatQuantity(point.y, unit), range(point.low, point.high, unit), numberOf(point)]))),
  };
}

function heatRows(data) {
  const cells = new Map(data.cells.map((cell) => [`${cell.x},${cell.y}`, cell]));
  return {
    head: [data.y.label, ...data.x.labels],
    body: data.y.labels.map((label, y) => [label, ...data.x.labels.map((_, x) => {
      const cell = cells.get(`${x},${y}`);
      const text = formatQuantity(cell?.v ?? null, data.metric.unit);
      return { text: cell?.flags ? `${text} (⚑ ${cell.flags})` : text, url: cell?.url };
    })]),
  };
}

function boxRows(data, words) {
  const unit = data.metric.unit;
  const figures = ["min", "q1", "median", "q3", "max"];
  return {
    head: [data.x.label, words.textSeries, "n", ...figures, words.textOutliers],
    body: data.series.flatMap((series) => series.boxes.map((box) => [
      { text: data.x.labels[box.x], url: box.url }, series.label || data.metric.label, numberOf(box),
      ...figures.map((name) => formatQuantity(box[name], unit)),
      (box.outliers ?? []).map((value) => formatQuantity(value, unit)).join(", ") || "–"])),
  };
}

function parallelRows(data, words, chosen) {
  const shown = (chosen ?? data.rows.map((_, index) => index)).slice(0, LISTED);
  const text = (axis, value) => (axis.labels ? axis.labels[value] ?? "–" : formatQuantity(value, axis.unit));
  return {
    head: [...(data.ids ? [words.textRun] : []), ...data.axes.map((axis) => axis.label)],
    body: shown.map((index) => [
      ...(data.ids ? [{ text: data.hollow?.includes(index) ? `${data.ids[index]} ⚑` : data.ids[index], url: data.url?.replace("{id}", data.ids[index]) }] : []),
      ...data.axes.map((axis, place) => text(axis, data.rows[index][place]))]),
  };
}

/** Return {head: [text], body: [[text or {text, url?}]]} of a chart's data; `chosen` are places of rows. */
export function rowsOf(data, words, chosen) {
  const kinds = { line: lineRows, heat: heatRows, box: boxRows, parallel: parallelRows };
  return kinds[data.kind ?? "line"](data, words, chosen);
}

function cellOf(tag, content) {
  const cell = document.createElement(tag);
  const { text, url } = content !== null && typeof content === "object" ? content : { text: content };
  const holder = url ? cell.appendChild(document.createElement("a")) : cell;
  if (url) holder.href = url;
  holder.textContent = text;
  return cell;
}

/** Return the table element of a chart's data. */
export function tableOf(data, words, chosen) {
  const { head, body } = rowsOf(data, words, chosen);
  const table = document.createElement("table");
  table.className = "table table-sm table-hover small align-middle";
  const top = table.createTHead().insertRow();
  for (const text of head) {
    const cell = top.appendChild(cellOf("th", text));
    cell.scope = "col";
  }
  const rows = table.createTBody();
  for (const line of body) {
    const row = rows.insertRow();
    for (const content of line) row.append(cellOf("td", content));
  }
  return table;
}
