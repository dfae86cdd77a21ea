// Many runs at once: one vertical axis a factor or metric, one line a run, ranges chosen ("brushed") on any axis.
//
// {kind: "parallel",
//  axes: [{name, label, unit, log?, labels?: [text]}],   with `labels` the values are places in them (words)
//  rows: [[value or null, ...]],                         one value an axis, in base units
//  hollow?: [place of a row],                            runs whose figure is flagged: their lines are dashed
//  ids?: [id], url?: "/results/trials/{id}/",            where a chosen run's page is
//  colour?: place of the axis that colours the lines (the last one unless given),
//  ranges?: [[low, high] or null]}                       shares (0 to 1) of each axis that are chosen at first
//
// A null is drawn at the foot of its axis. The canvas sends "brushchange" with detail {chosen: [place of row], ids}.
import { brushing } from "./brushing.js";
import { shadeOf, shareOf } from "./heat.js";
import { css, isNumber, tickText } from "./theme.js";

// Room (px) above the axes for their names, below for the foot, at the sides for ticks.
const ROOM = { top: 44, bottom: 34, left: 64, right: 96 };
// Where a run has no value, below the axis' least.
const FOOT_PX = 16;
const SHADES = 12;
const TICKS = 5;
// An axis with so many different values at most, such as a sweep's, has its ticks at them.
const MOST_OWN_TICKS = 10;

/** Return the bounds of an axis' values, and a function from a value to its share of the axis, 0 to 1. */
function scaleOf(axis, place, rows) {
  if (axis.labels) {
    const last = Math.max(axis.labels.length - 1, 1);
    return { bounds: [0, last], share: (value) => (axis.labels.length === 1 ? 0.5 : value / last) };
  }
  const own = new Set(rows.map((row) => row[place]).filter((value) => isNumber(value) && !(axis.log && value <= 0)));
  let [low, high] = [Infinity, -Infinity];
  for (const value of own) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return {
    bounds: [low, high],
    share: (value) => shareOf(value, [low, high], axis.log),
    own: own.size > MOST_OWN_TICKS ? null : [...own].sort((a, b) => a - b),
  };
}

function ticksOf(axis, { bounds: [low, high], own }) {
  if (axis.labels) return axis.labels.map((text, index) => ({ text, value: index }));
  const values = own ?? Array.from({ length: TICKS }, (_, step) => {
    const share = step / (TICKS - 1);
    return axis.log ? low * (high / low) ** share : low + (high - low) * share;
  });
  return values.map((value) => ({ value, text: tickText(value, axis.unit) }));
}

function shortened(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let length = text.length;
  while (length > 1 && ctx.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

/** A drawing of parallel coordinates with the runs that its brushes choose; has what draw.js asks of a chart. */
class Parallel {
  constructor(canvas, data) {
    Object.assign(this, { canvas, fathom: data, context: canvas.getContext("2d"), ground: document.createElement("canvas") });
    this.scales = data.axes.map((axis, place) => scaleOf(axis, place, data.rows));
    // Of each axis, the range of shares that is chosen, or null for all.
    this.ranges = data.axes.map((_, place) => data.ranges?.[place] ?? null);
    this.positions = this.sharesOfRows();
    this.active = -1;
    this.choose();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas.parentElement);
    this.resize();
    this.stop = brushing(this);
  }

  /** Return the share of each value on its axis, a flat array with NaN where there is none. */
  sharesOfRows() {
    const { axes, rows } = this.fathom;
    const found = new Float32Array(axes.length * rows.length);
    rows.forEach((row, index) => axes.forEach((axis, place) => {
      const value = row[place];
      const has = isNumber(value) && !(axis.log && value <= 0);
      found[index * axes.length + place] = has ? this.scales[place].share(value) : NaN;
    }));
    return found;
  }

  /** Find the rows within all ranges. */
  choose() {
    const { axes, rows } = this.fathom;
    const brushed = this.ranges.map((range, place) => [range, place]).filter(([range]) => range);
    // Half a pixel's worth of tolerance, so that a range that ends at a value holds it.
    const within = (share, [low, high]) => share >= low - 1e-4 && share <= high + 1e-4;
    this.chosen = rows.map((_, index) => index).filter((index) => (
      brushed.every(([range, place]) => within(this.positions[index * axes.length + place], range))));
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    const ratio = window.devicePixelRatio || 1;
    if (!clientWidth || (clientWidth === this.width && clientHeight === this.height)) return;
    Object.assign(this, { width: clientWidth, height: clientHeight });
    for (const surface of [this.canvas, this.ground]) {
      surface.width = Math.round(clientWidth * ratio);
      surface.height = Math.round(clientHeight * ratio);
      surface.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.canvas.style.width = `${clientWidth}px`;
    this.canvas.style.height = `${clientHeight}px`;
    this.drawGround();
    this.draw();
  }

  /** Return where an axis stands (px from the left). */
  xOf(place) {
    const last = this.fathom.axes.length - 1;
    return ROOM.left + (last ? (this.width - ROOM.left - ROOM.right) * (place / last) : 0);
  }

  /** Return where a share of an axis stands (px from the top); what has no value lies at the foot. */
  yOf(share) {
    const bottom = this.height - ROOM.bottom;
    return Number.isNaN(share) ? bottom + FOOT_PX : bottom - share * (bottom - ROOM.top);
  }

  /** Return the share at a height (px from the top). */
  shareAt(y) {
    const bottom = this.height - ROOM.bottom;
    return Math.min(Math.max((bottom - y) / (bottom - ROOM.top), 0), 1);
  }

  trace(ctx, index, xs) {
    const start = index * xs.length;
    ctx.moveTo(xs[0], this.yOf(this.positions[start]));
    for (let place = 1; place < xs.length; place += 1) ctx.lineTo(xs[place], this.yOf(this.positions[start + place]));
  }

  /** Draw all runs faintly, once: brushing then only copies them. */
  drawGround() {
    const ctx = this.ground.getContext("2d");
    const xs = this.fathom.axes.map((_, place) => this.xOf(place));
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.strokeStyle = css("--bs-secondary-color");
    ctx.globalAlpha = 0.1;
    ctx.lineWidth = 1;
    ctx.beginPath();
    this.fathom.rows.forEach((_, index) => this.trace(ctx, index, xs));
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  /** Draw the chosen runs, shaded by the axis that colours them, and the axes over them. */
  draw() {
    const ctx = this.context;
    const { axes } = this.fathom;
    const xs = axes.map((_, place) => this.xOf(place));
    const colour = this.fathom.colour ?? axes.length - 1;
    const theme = document.documentElement.dataset.bsTheme;
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.drawImage(this.ground, 0, 0, this.width, this.height);
    const flagged = new Set(this.fathom.hollow ?? []);
    const shades = Array.from({ length: SHADES }, () => []);
    for (const index of this.chosen) {
      const share = this.positions[index * axes.length + colour];
      shades[Number.isNaN(share) ? 0 : Math.min(SHADES - 1, Math.floor(share * SHADES))].push(index);
    }
    ctx.globalAlpha = this.chosen.length > 400 ? 0.35 : 0.75;
    ctx.lineWidth = this.chosen.length > 400 ? 1 : 1.5;
    shades.forEach((members, shade) => {
      // The palest of the ramp are for cells; a line needs more.
      ctx.strokeStyle = `rgb(${shadeOf(0.3 + 0.7 * (shade / (SHADES - 1)), theme)})`;
      for (const isFlagged of [false, true]) {
        ctx.setLineDash(isFlagged ? [5, 4] : []);
        ctx.beginPath();
        for (const index of members) if (flagged.has(index) === isFlagged) this.trace(ctx, index, xs);
        ctx.stroke();
      }
    });
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    axes.forEach((axis, place) => this.drawAxis(axis, place, xs[place]));
  }

  drawAxis(axis, place, x) {
    const ctx = this.context;
    const [top, bottom] = [this.yOf(1), this.yOf(0)];
    const room = place + 1 < this.fathom.axes.length ? this.xOf(place + 1) - x - 12 : ROOM.right - 10;
    ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    ctx.strokeStyle = css("--bs-body-color");
    ctx.lineWidth = place === this.active ? 2.5 : 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    const paper = css("--bs-body-bg");
    ctx.textBaseline = "middle";
    ctx.lineWidth = 3;
    ctx.strokeStyle = paper;
    ctx.fillStyle = css("--bs-body-color");
    ctx.textAlign = "left";
    for (const { value, text } of this.ticksShown(axis, place)) {
      const y = this.yOf(this.scales[place].share(value));
      const shown = shortened(ctx, text, room);
      ctx.strokeText(shown, x + 6, y);
      ctx.fillText(shown, x + 6, y);
    }
    ctx.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = "center";
    ctx.fillText(shortened(ctx, axis.label, place === 0 ? 2 * ROOM.left : room + 12), x, 14);
    ctx.textAlign = "left";
    const range = this.ranges[place];
    if (range) {
      ctx.fillStyle = css("--fathom");
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x - 8, this.yOf(range[1]), 16, Math.max(2, this.yOf(range[0]) - this.yOf(range[1])));
      ctx.globalAlpha = 1;
      ctx.strokeStyle = css("--fathom");
      ctx.lineWidth = 1.5;
      ctx.strokeRect(x - 8, this.yOf(range[1]), 16, Math.max(2, this.yOf(range[0]) - this.yOf(range[1])));
    }
  }

  /** Return the ticks of an axis, thinned where words stand too close. */
  ticksShown(axis, place) {
    const all = ticksOf(axis, this.scales[place]);
    const step = Math.ceil((all.length * 16) / Math.max(this.yOf(0) - this.yOf(1), 1));
    return all.filter((_, index) => index % step === 0);
  }

  /** Choose a range of shares of an axis (null: all of it), draw, and tell the page. */
  brush(place, range) {
    this.ranges[place] = range;
    this.choose();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
    const ids = this.fathom.ids ? this.chosen.map((index) => this.fathom.ids[index]) : [];
    this.canvas.dispatchEvent(new CustomEvent("brushchange", { bubbles: true, detail: { chosen: this.chosen, ids } }));
  }

  /** Return the value at a share of an axis, as text. */
  textAt(place, share) {
    const axis = this.fathom.axes[place];
    const [low, high] = this.scales[place].bounds;
    if (axis.labels) return axis.labels[Math.round(share * (axis.labels.length - 1))];
    const value = axis.log ? low * (high / low) ** share : low + (high - low) * share;
    return tickText(value, axis.unit);
  }

  destroy() {
    this.observer.disconnect();
    this.stop();
  }
}

/** Draw `data` on a canvas and return the drawing: `canvas`, `chosen`, `brush(place, range)`, `destroy()`. */
export function drawParallel(canvas, data) {
  return new Parallel(canvas, data);
}
