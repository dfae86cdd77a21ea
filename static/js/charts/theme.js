// What all charts share: colours of the theme, marks, and the look of axes, legends and tooltips.
import { formatTick } from "../units.js";

export const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6"];
// Colour is never the only sign: marks differ too, and beyond six series the dashes.
export const MARKS = ["circle", "rect", "triangle", "rectRot", "crossRot", "star"];
export const DASHES = [[], [6, 3], [2, 2]];

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Return a colour of which so many percent are left. */
export function faded(colour, percent = 30) {
  return `color-mix(in srgb, ${colour} ${percent}%, transparent)`;
}

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** Return seconds since the epoch as "2026-03-02 10:00" in the reader's own zone. */
export function formatMoment(seconds) {
  const at = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Return the text at a tick of an axis; the unit "time" is seconds since the epoch. */
export function tickText(value, unit) {
  if (unit !== "time") return formatTick(value, unit);
  const text = formatMoment(value);
  if (value % MINUTE) return `${text.slice(11)}:${String(value % MINUTE).padStart(2, "0")}`;
  return text.endsWith(" 00:00") ? text.slice(0, 10) : text.slice(5);
}

const MINUTE = 60, HOUR = 3600;
const STEPS = [
  1, 2, 5, 10, 30,
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728, 3640].map((days) => days * 24 * HOUR),
];

/** Return where an axis of time has ticks: whole seconds, hours, days or weeks of the reader's zone, `most` at most. */
export function timeTicks(low, high, most = 10) {
  const step = STEPS.find((length) => (high - low) / length <= most) ?? STEPS.at(-1);
  const start = new Date(low * 1000);
  start.setHours(step < HOUR ? start.getHours() : 0, 0, 0, 0);
  const found = [];
  // Whole days are counted by the calendar: where clocks are changed one of them has 23 or 25 hours.
  for (let count = 0; found.length <= most; count += 1) {
    const at = new Date(start);
    if (step >= 24 * HOUR) at.setDate(at.getDate() + Math.round((count * step) / (24 * HOUR)));
    else at.setTime(at.getTime() + count * step * 1000);
    const value = at.getTime() / 1000;
    if (value > high) break;
    if (value >= low) found.push(value);
  }
  return found;
}

/** Return where an axis of sizes (B) has ticks: multiples, or on a logarithmic one powers, of two; `most` at most. */
export function sizeTicks(low, high, isLog = false, most = 8) {
  if (!(high > low)) return [low];
  if (isLog) {
    const [first, last] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
    const step = Math.max(1, Math.ceil((last - first + 1) / most));
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, place) => 2 ** (first + place * step));
  }
  const step = 2 ** Math.ceil(Math.log2((high - low) / most));
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, place) => (first + place) * step);
}

/** Return what lets an axis in a unit have such ticks, where it is one of sizes. */
export function ticksOfUnit(unit, isLog = false) {
  if (unit !== "B") return {};
  return { afterBuildTicks: (axis) => { axis.ticks = sizeTicks(axis.min, axis.max, isLog).map((value) => ({ value })); } };
}

/** Return what every axis has: its title and its colours. */
export function axisStyle(text) {
  return {
    title: { display: Boolean(text), text, color: css("--bs-body-color") },
    grid: { color: css("--bs-border-color") },
    border: { color: css("--bs-border-color") },
    ticks: { color: css("--bs-secondary-color"), maxRotation: 45, autoSkipPadding: 8 },
  };
}

/** Return the lines of a tooltip below a figure: its note, and what flags cast doubt on it. */
export function afterLines({ note, flags }) {
  return [note, flags ? `⚑ ${flags}` : ""].filter(Boolean);
}

/** Return the bounds an axis was given, as Chart.js takes them. */
export function boundsOf({ min, max }) {
  return { ...(isNumber(min) ? { min } : {}), ...(isNumber(max) ? { max } : {}) };
}

/** Return the options every chart of Chart.js begins with; `series` is how many names the legend has. */
export function baseOptions(series) {
  window.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", axis: "xy", intersect: false },
    plugins: {
      legend: {
        display: series > 1,
        position: "bottom",
        labels: { color: css("--bs-body-color"), usePointStyle: true, boxWidth: 8, boxHeight: 8 },
      },
    },
  };
}
