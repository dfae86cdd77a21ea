// How ranges are chosen on the axes of parallel coordinates: by pointer and by keyboard.

// A pointer this near an axis (px) means it.
const NEAR_PX = 24;
// A drag shorter than this is a click, which takes the range away.
const CLICK_PX = 4;
const STEP = 0.05;

function nearestAxis(drawing, x) {
  const places = drawing.fathom.axes.map((_, place) => [Math.abs(drawing.xOf(place) - x), place]);
  const [distance, place] = places.reduce((best, one) => (one[0] < best[0] ? one : best));
  return distance <= NEAR_PX ? place : -1;
}

function byPointer(drawing, signal) {
  const { canvas } = drawing;
  let held = null;
  const at = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    const { x, y } = at(event);
    const place = nearestAxis(drawing, x);
    if (place < 0 || event.button) return;
    const range = drawing.ranges[place];
    const share = drawing.shareAt(y);
    // Within a range the whole of it moves; elsewhere a new one begins.
    const moves = range && share >= range[0] && share <= range[1] ? [share - range[0], range[1] - share] : null;
    held = { place, y, share, moves };
    drawing.active = place;
    canvas.setPointerCapture(event.pointerId);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = at(event);
    canvas.style.cursor = held || nearestAxis(drawing, x) >= 0 ? "ns-resize" : "default";
    if (!held || Math.abs(y - held.y) < CLICK_PX) return;
    const share = drawing.shareAt(y);
    const size = held.moves && held.moves[0] + held.moves[1];
    const low = held.moves ? Math.min(Math.max(share - held.moves[0], 0), 1 - size) : Math.min(held.share, share);
    drawing.brush(held.place, [low, held.moves ? low + size : Math.max(held.share, share)]);
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    if (held && Math.abs(at(event).y - held.y) < CLICK_PX) drawing.brush(held.place, null);
    held = null;
  }, { signal });
  canvas.addEventListener("pointercancel", () => { held = null; }, { signal });
}

/** Return the range after a key: up and down move its lower end, with shift its upper end. */
function keyed(range, event) {
  const [low, high] = range ?? [0, 1];
  const by = event.key === "ArrowUp" ? STEP : -STEP;
  const next = event.shiftKey ? [low, Math.max(low, high + by)] : [Math.min(high, low + by), high];
  return next.map((share) => Math.min(Math.max(Number(share.toFixed(3)), 0), 1));
}

function byKeyboard(drawing, signal) {
  const { canvas } = drawing;
  const last = drawing.fathom.axes.length - 1;
  canvas.addEventListener("keydown", (event) => {
    const place = Math.max(drawing.active, 0);
    if (event.key === "ArrowLeft") drawing.active = Math.max(0, place - 1);
    else if (event.key === "ArrowRight") drawing.active = drawing.active < 0 ? 0 : Math.min(last, place + 1);
    else if (event.key === "Home") drawing.active = 0;
    else if (event.key === "End") drawing.active = last;
    else if (!["ArrowUp", "ArrowDown", "Delete", "Backspace", "Escape"].includes(event.key)) return;
    event.preventDefault();
    drawing.active = Math.max(drawing.active, 0);
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      drawing.brush(drawing.active, keyed(drawing.ranges[drawing.active], event));
    } else if (event.key === "Delete" || event.key === "Backspace") drawing.brush(drawing.active, null);
    else if (event.key === "Escape") drawing.ranges.forEach((_, at) => drawing.brush(at, null));
    else drawing.brush(drawing.active, drawing.ranges[drawing.active]);
  }, { signal });
}

/** Let ranges of a drawing be chosen; returns what ends it. */
export function brushing(drawing) {
  const ending = new AbortController();
  drawing.canvas.style.touchAction = "pan-x";
  byPointer(drawing, ending.signal);
  byKeyboard(drawing, ending.signal);
  return () => ending.abort();
}
