"""What the charts tell Chart.js to draw, tried with a stand-in for its drawing."""

import json
from typing import Any

from tests.core import javascript

BROWSER = """
const listeners = {};
globalThis.document = { documentElement: {}, addEventListener: (name, call) => { listeners[name] = call; } };
globalThis.getComputedStyle = () => ({ getPropertyValue: (name) => ` ${name}-${globalThis.theme ?? "light"}` });
class Chart {
  static all = new Map();
  static defaults = { font: {} };
  static getChart(canvas) { return Chart.all.get(canvas); }
  constructor(canvas, config) {
    Object.assign(this, { canvas, ...config, updates: [] });
    Chart.all.set(canvas, this);
  }
  update(mode) { this.updates.push(mode); }
  destroy() { this.destroyed = true; }
}
globalThis.window = { Chart };
const canvas = { isConnected: true };
"""
PARTS = ["theme", "lines", "line", "heat", "box", "brushing", "parallel", "draw"]
MODULES = ("units.js", *(f"charts/{name}.js" for name in PARTS))


def sweep(**changes: Any) -> dict[str, Any]:
    points = [{"x": 65536 * 2**n, "y": 1e8 * (n + 1), "low": 0.9e8, "high": 5e8, "n": 3} for n in range(3)]
    return {
        "metric": {"name": "goodput", "label": "Goodput", "unit": "bit/s"},
        "x": {"name": "window", "label": "Window", "unit": "B", "numeric": True, "log": True},
        "series": [{"label": "1 stream", "points": points}, {"label": "4 streams", "points": points[:1]}],
        "lines": [
            {"axis": "y", "value": 941e6, "label": "Ceiling"},
            {"axis": "x", "value": 600_000, "label": "BDP"},
        ],
    } | changes


def draw(program: str, **changes: Any) -> Any:
    data = f"const data = {json.dumps(sweep(**changes))};"
    return javascript.run(f"{data}\n{program}", *MODULES, before=BROWSER)


def drawn(program: str, **changes: Any) -> Any:
    return draw(f"const chart = drawChart(canvas, data);\n{program}", **changes)


def test_an_axis_of_ratios_is_logarithmic_and_shows_the_bdp() -> None:
    x = drawn(
        "const axis = {}; chart.options.scales.x.afterBuildTicks(axis); const { x } = chart.options.scales;"
        "done({ ...x, shown: axis.ticks.map((tick) => x.ticks.callback(tick.value)) });"
    )
    assert x["type"] == "logarithmic"
    assert x["title"]["text"] == "Window"
    assert x["shown"] == ["64 KiB", "128 KiB", "256 KiB"]
    assert x["min"] < 65536
    assert x["max"] > 600_000, "the mark lies beyond the measured windows and must still be seen"


def test_the_other_axis_leaves_room_for_the_ceiling() -> None:
    y = drawn("const { y } = chart.options.scales; done({ ...y, tick: y.ticks.callback(5e8) });")
    assert (y["type"], y["beginAtZero"], y["tick"]) == ("linear", True, "500 Mbit/s")
    assert y["suggestedMax"] > 941e6


def test_an_axis_of_sizes_has_binary_ticks() -> None:
    metric = {"name": "memory", "label": "Memory", "unit": "B"}
    program = (
        "const { y } = chart.options.scales; y.afterBuildTicks(axis);"
        "done(axis.ticks.map((tick) => y.ticks.callback(tick.value)));"
    )
    linear = drawn(f"const axis = {{ min: 0, max: 25e9 }}; {program}", metric=metric)
    assert linear == ["0 B", "4 GiB", "8 GiB", "12 GiB", "16 GiB", "20 GiB"]
    powers = drawn(f"const axis = {{ min: 1e3, max: 3e9 }}; {program}", metric=metric | {"log": True})
    assert powers == ["1 KiB", "8 KiB", "64 KiB", "512 KiB", "4 MiB", "32 MiB", "256 MiB", "2 GiB"]
    x = {"name": "window", "label": "Window", "unit": "B", "numeric": True}
    along = drawn("const axis = { min: 65536, max: 262144 }; chart.options.scales.x.afterBuildTicks(axis);"
                  "done(axis.ticks.map((tick) => tick.value % 32768));", x=x)  # fmt: skip
    assert along and not any(along)


def test_lines_of_theory_stand_on_their_axes() -> None:
    lines = drawn("done(chart.options.plugins.annotation.annotations);")
    assert [(line["scaleID"], line["value"], line["label"]["content"]) for line in lines.values()] == [
        ("y", 941e6, "Ceiling"),
        ("x", 600_000, "BDP"),
    ]


def test_points_carry_their_interval() -> None:
    first = drawn("done(chart.data.datasets[0].data[0]);")
    assert first == {"x": 65536, "y": 1e8, "yMin": 0.9e8, "yMax": 5e8, "n": 3}


def test_a_point_without_an_interval_has_no_bar() -> None:
    series = [{"label": "", "points": [{"x": 1, "y": 2, "low": None, "high": None, "n": 1}, {"x": 2, "y": None}]}]
    shown = drawn("done([chart.data.datasets[0].data, chart.data.datasets[0].label]);", series=series)
    assert shown == [[{"x": 1, "y": 2, "n": 1}, {"x": 2, "y": None}], "Goodput"]


def test_words_make_an_axis_of_categories_without_marks() -> None:
    x = {"name": "cc", "label": "Congestion control", "unit": "", "numeric": False, "log": False}
    series = [{"label": "", "points": [{"x": "cubic", "y": 1}, {"x": "bbr", "y": 2}]}]
    shown = drawn(
        "done([chart.options.scales.x.type, chart.options.scales.x.labels,"
        " Object.keys(chart.options.plugins.annotation.annotations).length]);",
        x=x,
        series=series,
    )
    assert shown == ["category", ["cubic", "bbr"], 1]


def test_a_series_has_a_place_for_every_word_since_error_bars_go_by_place() -> None:
    x = {"name": "cc", "label": "Congestion control", "unit": "", "numeric": False, "log": False}
    series = [
        {"label": "one", "points": [{"x": "cubic", "y": 1, "points": [1, 2]}]},
        {"label": "other", "points": [{"x": "bbr", "y": 2}]},
    ]
    shown = drawn(
        "done(chart.data.datasets.map((set) => [set.type ?? '', set.data.map((point) => [point.x, point.y])]));",
        x=x,
        series=series,
        individual=True,
    )
    assert shown == [
        ["", [["cubic", 1], ["bbr", None]]],
        ["", [["cubic", None], ["bbr", 2]]],
        # Single samples stand several at one word, so they are no chart of error bars.
        ["line", [["cubic", 1], ["cubic", 2]]],
        ["line", []],
    ]


def test_what_cannot_stand_on_a_logarithmic_axis_is_left_out() -> None:
    metric = {"name": "rtt", "label": "RTT", "unit": "s", "log": True}
    points = [{"x": 0, "y": 1}, {"x": 1, "y": 0}, {"x": 2, "y": 3, "low": -1, "high": 4}]
    shown = drawn(
        "done([chart.options.scales.y.type, chart.options.scales.y.beginAtZero, chart.data.datasets[0].data]);",
        metric=metric,
        series=[{"label": "", "points": points}],
        lines=[],
    )
    assert shown == ["logarithmic", False, [{"x": 2, "y": 3}]]


def test_flagged_figures_are_hollow_and_the_tooltip_says_with_which_flags() -> None:
    text = "1 of 2 figures flagged: stalled × 1"
    points = [
        {"x": 1, "y": 5, "n": 2, "points": [4, 6], "flagged": 1, "flags": text, "hollow": [1], "note": "Week 3"},
        {"x": 2, "y": 7, "n": 1, "points": [7]},
    ]
    shown = drawn(
        "const fill = (set, name) => set.data.map((raw) => set[name]({ raw }));"
        "const [means, singles] = chart.data.datasets;"
        "const after = chart.options.plugins.tooltip.callbacks.afterLabel;"
        "done([fill(means, 'pointWithErrorBarBackgroundColor'), fill(singles, 'pointBackgroundColor'),"
        " means.data.map((raw) => after({ raw }))]);",
        series=[{"label": "", "points": points}],
        individual=True,
    )
    paper, full = "--bs-body-bg-light", "--chart-1-light"
    pale = f"color-mix(in srgb, {full} 40%, transparent)"
    assert shown == [[paper, full], [pale, paper, pale], [["Week 3", f"⚑ {text}"], []]]


def test_nothing_to_draw_breaks_nothing() -> None:
    assert drawn("done([chart.data.datasets, chart.options.scales.x.min ?? null]);", series=[], lines=[]) == [
        [],
        None,
    ]
    assert draw("window.Chart = undefined; done(drawChart(canvas, data));") is None


def test_an_update_happens_in_place_and_keeps_the_datasets_of_before() -> None:
    shown = drawn(
        "const before = chart.data.datasets[1]; before.hidden = true; data.series.reverse();"
        "const again = drawChart(canvas, data);"
        "done([again === chart, again.data.datasets[0] === before, before.hidden, chart.updates]);"
    )
    assert shown == [True, True, True, ["none"]]


def test_colours_follow_the_theme_and_removed_charts_are_forgotten() -> None:
    shown = drawn(
        "const gone = drawChart({ isConnected: true }, data); gone.canvas.isConnected = false;"
        "globalThis.theme = 'dark'; listeners.themechange();"
        "done([chart.data.datasets[0].borderColor, gone.destroyed, gone.updates]);"
    )
    assert shown == ["--chart-1-dark", True, []]


def test_series_differ_by_more_than_colour() -> None:
    series = [{"label": str(n), "points": [{"x": 1, "y": n}]} for n in range(8)]
    styles = drawn(
        "done(chart.data.datasets.map((set) => [set.borderColor, set.pointStyle, String(set.borderDash)]));",
        series=series,
    )
    assert len({tuple(style) for style in styles}) == 8


def test_a_long_series_shows_no_marks() -> None:
    series = [{"label": "", "points": [{"x": n, "y": n} for n in range(100)]}]
    assert drawn("done(chart.data.datasets[0].radius);", series=series) == 0
    assert drawn("done(chart.data.datasets[0].radius);") == 4


def test_the_tooltip_says_the_figure_its_interval_and_its_samples() -> None:
    shown = drawn(
        "const { title, label } = chart.options.plugins.tooltip.callbacks;"
        "const raw = chart.data.datasets[0].data[0];"
        "const item = { raw, parsed: raw, dataset: chart.data.datasets[0] };"
        "done([title([item]), label(item), label({ ...item, raw: { y: 1e6 } })]);"
    )
    assert shown == [
        "64 KiB",
        "1 stream: 100 Mbit/s (90 Mbit/s – 500 Mbit/s), n = 3",
        "1 stream: 1 Mbit/s",
    ]
