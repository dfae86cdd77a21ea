// Quantities with their units, to the digit as apps/bench/units/formats.py shows them.

const PREFIXES = ["", "k", "M", "G", "T", "P"];
const IEC = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const TIME = [["s", 1], ["ms", 1e3], ["µs", 1e6], ["ns", 1e9]];
const LONG = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
// Below this a size that is not whole KiB is clearer in bytes: an MTU is 9000 B.
const PLAIN_BYTES = 10000;
const TINY = 1e-4;

function exponential(value, decimals) {
  return value.toExponential(decimals).replace(/e-(\d)$/, "e-0$1");
}

function significant(value, digits) {
  if (value > 0 && value < TINY) return exponential(value, digits - 1);
  const decimals = value ? Math.max(0, digits - 1 - Math.floor(Math.log10(value))) : 0;
  const text = value.toFixed(decimals);
  // 9.9996 rounds up to 10.000: one digit too many.
  const shown = text.replace(/^[0.]+/, "").replace(".", "").length;
  return decimals && shown > digits ? value.toFixed(decimals - 1) : text;
}

function scaled(value, units, base, digits, whole) {
  let power = 0;
  let amount = value;
  while (power + 1 < units.length && Number(significant(amount, digits)) >= base) {
    amount /= base;
    power += 1;
  }
  let text = significant(amount, digits);
  // A round figure needs no padding, one that was rounded keeps its digits.
  if (whole && text.includes(".") && Number(text) * base ** power === value) text = text.replace(/\.?0+$/, "");
  return `${text} ${units[power]}`;
}

function plain(value) {
  if (Number.isInteger(value)) return String(value);
  const rounded = Number(value.toPrecision(4));
  return rounded < TINY ? exponential(rounded) : String(rounded);
}

function longDuration(seconds) {
  const parts = [];
  let rest = seconds;
  for (const [unit, length] of LONG) {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    if (amount) parts.push(`${amount} ${unit}`);
  }
  return parts.join(" ");
}

function duration(value) {
  if (!value) return "0 s";
  if (value >= 1 && Number.isInteger(value)) return longDuration(value);
  const texts = TIME.map(([unit, scale]) => [unit, significant(value * scale, 3)]);
  const [unit, text] = texts.find(([, shown]) => Number(shown) >= 1) ?? texts[texts.length - 1];
  return unit !== "s" || Number(text) < 60 ? `${text} ${unit}` : longDuration(Math.round(value));
}

/** Return `value`, in base units, with its unit for people: "983.2 Mbit/s", "64 KiB", "4.80 ms", "0.5 %". */
export function formatQuantity(value, unit) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return "–";
  if (value < 0) return `-${formatQuantity(-value, unit)}`;
  if (unit === "B") {
    return value < PLAIN_BYTES && value % 1024 ? `${plain(value)} B` : scaled(value, IEC, 1024, 4, true);
  }
  if (unit === "bit/s" || unit === "B/s") {
    return scaled(value, PREFIXES.map((prefix) => prefix + unit), 1000, 4, Number.isInteger(value));
  }
  if (unit === "s") return duration(value);
  if (unit === "fraction") return `${plain(100 * value)} %`;
  return unit && unit !== "1" && unit !== "count" ? `${plain(value)} ${unit}` : plain(value);
}

/** Return the same without padding zeros, for the ticks of an axis: "4 ms", "1.2 Gbit/s". */
export function formatTick(value, unit) {
  return formatQuantity(Number(value.toPrecision(6)), unit).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}
