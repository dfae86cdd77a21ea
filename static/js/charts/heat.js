// A metric over two factors as shaded cells, each with its figure where it fits.
//
// {kind: "heat",
//  metric: {name, label, unit, log?},             log: the shade goes by ratio, not by difference
//  x: {name, label, labels: [text]},              columns from left to right
//  y: {name, label, labels: [text]},              rows from top to bottom
//  cells: [{x, y, v, low?, high?, n?, url?, note?, flagged?, flags?}]}    x and y are places in the labels; v in base units
//
// What was not measured has no cell (or a `v` of null) and stays empty; `url` opens on a click.
import { formatQuantity } from "../units.js";
import { afterLines, axisStyle, baseOptions, css, isNumber } from "./theme.js";

// Narrower cells than this (px) have no room for their figure.
const ROOM_PX = 58;
const HEIGHT_PX = 16;
// From light to dark on a light page, from dark to light on a dark one: more is always further from the paper.
const RAMPS = { light: [[233, 243, 248], [106, 173, 204], [9, 66, 92]], dark: [[28, 48, 60], [46, 117, 148], [173, 226, 244]] };

/** Return the place of `value` between the least and the largest, 0 to 1. */
export function shareOf(value, [low, high], log) {
  if (high <= low) return 0.5;
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** Return the red, green and blue of a share of the ramp. */
export function shadeOf(share, theme) {
  const ramp = RAMPS[theme === "dark" ? "dark" : "light"];
  const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const from = Math.min(Math.floor(place), ramp.length - 2);
  return ramp[from].map((part, index) => Math.round(part + (ramp[from + 1][index] - part) * (place - from)));
}

function inkOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#10161b" : "#f7fafc";
}

function themeNow() {
  return document.documentElement.dataset?.bsTheme;
}

function cellsOf(data) {
  const log = Boolean(data.metric.log);
  return data.cells
    .filter((cell) => isNumber(cell.v) && (!log || cell.v > 0))
    .map((cell) => ({ ...cell, x: data.x.labels[cell.x], y: data.y.labels[cell.y] }));
}

/** Draw the figures into the cells, and the ramp with its ends above them. */
function heatText(data, cells, bounds) {
  return {
    id: "heatText",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area } = chart;
      const [width, height] = [area.width / data.x.labels.length, area.height / data.y.labels.length];
      ctx.save();
      ctx.font = `12px ${window.Chart.defaults.font.family}`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "center";
      if (width >= ROOM_PX && height >= HEIGHT_PX) {
        chart.getDatasetMeta(0).data.forEach((element, index) => {
          const text = `${formatQuantity(cells[index].v, data.metric.unit)}${cells[index].flagged ? " ⚑" : ""}`;
          if (ctx.measureText(text).width > width - 6) return;
          ctx.fillStyle = inkOn(shadeOf(shareOf(cells[index].v, bounds, data.metric.log), themeNow()));
          const { x, y } = element.getCenterPoint();
          ctx.fillText(text, x, y);
        });
      }
      const ramp = ctx.createLinearGradient(area.left, 0, area.left + 120, 0);
      for (let step = 0; step <= 4; step += 1) ramp.addColorStop(step / 4, `rgb(${shadeOf(step / 4, themeNow())})`);
      ctx.fillStyle = css("--bs-body-color");
      ctx.textAlign = "left";
      const low = formatQuantity(bounds[0], data.metric.unit);
      const start = area.left + ctx.measureText(low).width + 8;
      ctx.fillText(low, area.left, 10);
      ctx.fillText(`${formatQuantity(bounds[1], data.metric.unit)}  ${data.metric.label}`, start + 128, 10);
      ctx.translate(start - area.left, 0);
      ctx.fillStyle = ramp;
      ctx.fillRect(area.left, 3, 120, 14);
      ctx.restore();
    },
  };
}

function heatTooltip(data) {
  return {
    title: ([item]) => `${data.y.label} ${item.raw.y}, ${data.x.label} ${item.raw.x}`,
    label: ({ raw }) => {
      const unit = data.metric.unit;
      const spread = raw.high > raw.low ? ` (${formatQuantity(raw.low, unit)} – ${formatQuantity(raw.high, unit)})` : "";
      return `${data.metric.label}: ${formatQuantity(raw.v, unit)}${spread}${raw.n ? `, n = ${raw.n}` : ""}`;
    },
    afterLabel: ({ raw }) => afterLines(raw),
  };
}

/** Return Chart.js' type, data and options for `data`. */
export function heatConfig(data) {
  const cells = cellsOf(data);
  const values = cells.map((cell) => cell.v);
  const bounds = values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
  const options = baseOptions(1);
  options.layout = { padding: { top: 26 } };
  options.interaction = { mode: "nearest", intersect: true };
  options.plugins.tooltip = { callbacks: heatTooltip(data) };
  const axis = (side) => ({
    ...axisStyle(side.label), type: "category", labels: side.labels, offset: true, grid: { display: false },
  });
  options.scales = { x: axis(data.x), y: { ...axis(data.y), reverse: false } };
  const dataset = {
    label: data.metric.label,
    data: cells,
    backgroundColor: ({ raw }) => (raw ? `rgb(${shadeOf(shareOf(raw.v, bounds, data.metric.log), themeNow())})` : "transparent"),
    hoverBorderColor: css("--bs-body-color"),
    hoverBorderWidth: 2,
    width: ({ chart }) => Math.max(1, (chart.chartArea?.width ?? 0) / data.x.labels.length - 2),
    height: ({ chart }) => Math.max(1, (chart.chartArea?.height ?? 0) / data.y.labels.length - 2),
  };
  return { type: "matrix", data: { datasets: [dataset] }, options, plugins: [heatText(data, cells, bounds)] };
}
