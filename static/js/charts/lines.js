// Lines of theory and of change that are drawn over a chart.
import { css, isNumber } from "./theme.js";

const LINE_COLOURS = { theory: "--chart-theory", change: "--chart-5", dismissed: "--bs-secondary-color" };

/** Return the lines that can be drawn: a mark on the x axis needs numbers there. */
export function linesOf(data) {
  return (data.lines ?? []).filter((line) => isNumber(line.value) && (line.axis === "y" || data.x.numeric));
}

/** Return the annotations of `data.lines`: across the chart, or from `from` to `to` on the other axis. */
export function annotationsOf(data) {
  const drawn = linesOf(data).map((line, index) => {
    const colour = css(LINE_COLOURS[line.style] ?? LINE_COLOURS.theory);
    const [low, high] = line.axis === "y" ? ["xMin", "xMax"] : ["yMin", "yMax"];
    return [`line${index}`, {
      type: "line",
      scaleID: line.axis,
      value: line.value,
      ...(isNumber(line.from) ? { scaleID: undefined, [`${line.axis}Min`]: line.value, [`${line.axis}Max`]: line.value,
        [low]: line.from, [high]: line.to } : {}),
      borderColor: colour,
      borderWidth: 1.5,
      borderDash: [6, 4],
      label: {
        display: Boolean(line.label),
        content: line.label,
        position: line.axis === "y" ? "start" : "end",
        yAdjust: line.axis === "y" ? -10 : 0,
        backgroundColor: css("--bs-body-bg"),
        color: colour,
        font: { size: 11, weight: "normal" },
        padding: 2,
      },
    }];
  });
  return Object.fromEntries(drawn);
}
