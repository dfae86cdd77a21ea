"""Heat maps, boxes, parallel coordinates, and what goes with every chart: tables, tools, keys, ticks of time."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.comparison.figures import charts
from tests.core import javascript
from tests.core.test_charts_js import BROWSER, MODULES, sweep

# What is on screen, as far as the modules ask for it.
SCREEN = """
globalThis.ResizeObserver = class { observe() {} disconnect() {} };
globalThis.requestAnimationFrame = (call) => { call(); return 1; };
globalThis.cancelAnimationFrame = () => {};
globalThis.CustomEvent = class { constructor(type, given) { Object.assign(this, { type }, given); } };
const context = () => new Proxy({}, {
  get: (kept, name) => kept[name] ?? (() => ({ width: 30 })),
  set: (kept, name, value) => { kept[name] = value; return true; },
});
const surface = () => ({
  getContext: context, style: {}, isConnected: true, handlers: {}, sent: [],
  parentElement: { clientWidth: 800, clientHeight: 400 },
  addEventListener(name, call) { this.handlers[name] = call; },
  dispatchEvent(event) { this.sent.push(event.detail); },
  getBoundingClientRect: () => ({ left: 0, top: 0 }), setPointerCapture() {},
});
document.createElement = () => surface();
document.body = {};
document.documentElement.dataset = { bsTheme: "light" };
const hit = (drawing, key, more = {}) => drawing.canvas.handlers.keydown({ key, preventDefault() {}, ...more });
"""
WORDS = {"textSeries": "Series", "textInterval": "95 % interval", "textOutliers": "Outliers", "textRun": "Run"}


def run(program: str, data: dict[str, Any]) -> Any:
    parts = [*MODULES, "charts/table.js", "charts/keys.js", "charts/tools.js"]
    start = f"const data = {json.dumps(data)}; const words = {json.dumps(WORDS)};"
    return javascript.run(f"{start}\n{program}", *parts, before=BROWSER + SCREEN)


def test_cells_stand_at_their_words_and_darken_with_their_figure() -> None:
    shown = run(
        "const chart = drawChart(canvas, data); const [set] = chart.data.datasets;"
        "done([chart.type, set.data.map((cell) => [cell.x, cell.y]), set.data.map((raw) "
        "=> set.backgroundColor({ raw })),"
        " chart.options.scales.y.reverse]);",
        charts.HEAT,
    )
    kind, places, colours, reverse = shown
    assert (kind, places, reverse) == ("matrix", [["64 KiB", "1"], ["1 MiB", "4"]], False)
    assert colours == ["rgb(233,243,248)", "rgb(9,66,92)"]


def test_the_table_beside_a_chart_names_the_flags() -> None:
    flags = {"flagged": 1, "flags": "1 of 3 figures flagged: stalled × 1"}
    line = sweep(series=[{"label": "a", "points": [{"x": 65536, "y": 1e8, "n": 3, **flags}]}])
    heat = {**charts.HEAT, "cells": [{**charts.HEAT["cells"][0], **flags}]}
    parallel = {**charts.PARALLEL, "hollow": [1]}
    program = "done(rowsOf(data, words).body.map((row) => row.map((cell) => cell?.text ?? cell)));"
    assert run(program, line)[0][-1] == f"3 ⚑ {flags['flags']}"
    assert flags["flags"] in run(program, heat)[0][1]
    assert [row[0] for row in run(program, parallel)] == [1, "2 ⚑", 3]


def test_a_key_says_what_stands_below_a_figure_too() -> None:
    shown = run(
        "const chart = drawChart(canvas, data); const said = [];"
        "chart.getDatasetMeta = () => ({ data: [{ x: 1, y: 2 }] }); chart.setActiveElements = () => {};"
        "const body = [{ lines: ['100 Mbit/s'], after: ['⚑ x'] }];"
        "chart.tooltip = { setActiveElements() {}, title: ['64 KiB'], body };"
        "Object.assign(canvas, { handlers: {}, addEventListener(name, call) { this.handlers[name] = call; } });"
        "pointKeys(canvas, (text) => said.push(text));"
        "canvas.handlers.keydown({ key: 'ArrowRight', preventDefault() {} }); done(said);",
        sweep(),
    )
    assert shown == ["64 KiB; 100 Mbit/s; ⚑ x"]


@pytest.mark.parametrize(("log", "share"), [(False, 0.09), (True, 0.5)])
def test_shades_go_by_difference_or_by_ratio(log: bool, share: float) -> None:
    assert run(f"done(shareOf(10, [1, 100], {str(log).lower()}));", {}) == pytest.approx(share, abs=0.01)


def test_a_heat_map_without_figures_is_empty_and_breaks_nothing() -> None:
    assert run("done(drawChart(canvas, data).data.datasets[0].data);", charts.HEAT | {"cells": []}) == []


def test_boxes_have_the_quartiles_given_and_groups_without_one_stay_empty() -> None:
    shown = run(
        "const chart = drawChart(canvas, data); done([chart.type, chart.data.labels, "
        "chart.data.datasets.map((set) => set.data)]);",
        charts.BOX,
    )
    kind, labels, sets = shown
    assert (kind, labels) == ("boxplot", ["GPFS", "NFS"])
    assert sets[1] == [None, None]
    box, missing = sets[0]
    assert missing is None
    assert [box[name] for name in ("whiskerMin", "q1", "median", "q3", "whiskerMax")] == [1, 2, 3, 4, 5]
    assert (box["outliers"], box["items"]) == ([9], [1, 2, 3, 4, 9])


def test_ranges_choose_runs_and_tell_the_page() -> None:
    shown = run(
        "const chart = drawChart(surface(), data); const first = [...chart.chosen];"
        "chart.brush(1, null); chart.brush(2, [0.9, 1]);"
        "done([first, chart.chosen, chart.canvas.sent.at(-1), chart.textAt(2, 0.5), chart.textAt(1, 1)]);",
        charts.PARALLEL,
    )
    assert shown == [[1, 2], [1], {"chosen": [1], "ids": [2]}, "565 Mbit/s", "bbr"]


def test_a_run_without_a_value_lies_in_no_range_of_that_axis() -> None:
    shown = run(
        "const chart = drawChart(surface(), data); chart.brush(1, null); chart.brush(0, [0, 1]); done(chart.chosen);",
        charts.PARALLEL,
    )
    assert shown == [0, 1]


def test_ranges_are_chosen_by_keyboard() -> None:
    shown = run(
        "const chart = drawChart(surface(), data); hit(chart, 'Escape'); hit(chart, 'End');"
        "for (let times = 0; times < 4; times += 1) hit(chart, 'ArrowUp');"
        "hit(chart, 'ArrowDown', { shiftKey: true });"
        "const [kept, chosen] = [chart.ranges[2], [...chart.chosen]]; hit(chart, 'Delete');"
        "done([kept, chosen, chart.ranges, chart.chosen]);",
        charts.PARALLEL,
    )
    assert shown == [[0.2, 0.95], [2], [None, None, None], [0, 1, 2]]


def test_ranges_are_drawn_moved_and_taken_away_by_pointer() -> None:
    shown = run(
        "const chart = drawChart(surface(), data); chart.brush(1, null); const { handlers } = chart.canvas; "
        "const x = chart.xOf(2);"
        "const at = (share) => ({ clientX: x, clientY: chart.yOf(share), button: 0, pointerId: 1 });"
        "const drag = (from, to) => { handlers.pointerdown(at(from)); handlers.pointermove(at(to)); "
        "handlers.pointerup(at(to)); };"
        "const seen = []; const note = () => seen.push(chart.ranges[2]?.map((end) => Number(end.toFixed(2))) "
        "?? null);"
        "drag(0.1, 0.4); note(); drag(0.2, 0.5); note(); drag(0.5, 2); note(); drag(0.2, 0.2); note(); done(seen);",
        charts.PARALLEL,
    )
    assert shown == [[0.1, 0.4], [0.4, 0.7], [0.7, 1], None]


def test_two_thousand_runs_are_placed_once_and_chosen_quickly() -> None:
    rows = [[65536 * (1 + n % 7), n % 2, float(n)] for n in range(2000)]
    shown = run(
        "const chart = drawChart(surface(), data); chart.brush(2, [0, 0.25]); done([chart.positions.length, "
        "chart.chosen.length]);",
        charts.PARALLEL | {"rows": rows, "ids": list(range(2000)), "ranges": []},
    )
    assert shown == [6000, 500]


@pytest.mark.parametrize(
    ("name", "head", "first"),
    [
        ("line", ["Window", "Series", "Goodput", "95 % interval", "n"],
         [{"text": "64 KiB"}, "Streams 1", "140 Mbit/s", "130 Mbit/s – 150 Mbit/s",
          "3 ⚑ 1 of 3 figures flagged: stalled × 1"]),
        ("heat", ["Streams", "64 KiB", "1 MiB"], ["1", {"text": "140 Mbit/s"}, {"text": "–"}]),
        ("box", ["File system", "Series", "n", "min", "q1", "median", "q3", "max", "Outliers"],
         [{"text": "GPFS"}, "1 client", 5, "1 B/s", "2 B/s", "3 B/s", "4 B/s", "9 B/s", "9 B/s"]),
        ("parallel", ["Run", "Window", "Congestion control", "Goodput"],
         [{"text": 1}, "64 KiB", "cubic", "140 Mbit/s"]),
    ],
)  # fmt: skip
def test_every_chart_has_its_figures_as_a_table(name: str, head: list[str], first: list[Any]) -> None:
    found = run("done(rowsOf(data, words));", charts.ALL[name])
    assert (found["head"], found["body"][0]) == (head, first)


def test_the_table_of_many_runs_lists_those_chosen() -> None:
    found = run("done(rowsOf({ ...data, url: '/results/trials/{id}/' }, words, [2]).body);", charts.PARALLEL)
    assert found == [[{"text": 3, "url": "/results/trials/3/"}, "–", "bbr", "500 Mbit/s"]]


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("line", {"log-x", "log-y", "individual", "nearer", "farther", "whole"}),
        ("words", {"log-y", "nearer", "farther", "whole"}),
        ("time", {"log-y", "nearer", "farther", "whole"}),
        ("heat", {"log-shade"}),
        ("box", {"log-y", "individual", "nearer", "farther", "whole"}),
        ("parallel", {"all"}),
    ],
)
def test_a_chart_has_the_tools_that_are_of_use_to_it(name: str, tools: set[str]) -> None:
    assert set(run("done([...toolsOf(data)]);", charts.ALL[name])) == tools


def test_a_figure_shows_what_the_reader_sees() -> None:
    shown = run(
        "const chart = drawChart(canvas, data); chart.isDatasetVisible = (index) => index === 1;"
        "chart.isZoomedOrPanned = () => true; chart.getZoomedScaleBounds = () => ({ x: { min: 1, max: 2 }, "
        "y: { min: 3, max: 4 } });"
        "const seen = shownData(chart); done([seen.series.map((one) => one.label), seen.x.min, seen.metric.max, "
        "data.series.length, data.x.min ?? null]);",
        sweep(),
    )
    assert shown == [["4 streams"], 1, 4, 2, None]


def test_arrows_go_along_a_series_and_between_series_past_what_is_empty_or_hidden() -> None:
    sets = [
        {"data": [{"y": 1}, None, {"y": 2}]},
        {"data": [{"y": 1}], "hidden": True},
        {"data": [{"y": 3}], "singles": True},
        {"data": [None, {"y": 4}, {"y": 5}]},
    ]
    shown = run(
        "let at = null; const seen = []; for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', "
        "'ArrowDown', 'ArrowLeft', 'End', 'Home', 'ArrowUp'])"
        "{ at = nextPoint(data.sets, at, key); seen.push([at.datasetIndex, at.index]); } done([seen, "
        "nextPoint([], null, 'Home')]);",
        {"sets": sets},
    )
    assert shown == [[[0, 0], [0, 2], [0, 2], [3, 2], [3, 1], [3, 2], [3, 1], [0, 1]], None]


@pytest.mark.parametrize(
    ("span", "step", "first"),
    [
        (4, 1, "03:00:34"),
        (45, 5, "03:00:35"),
        (700, 120, "02-02 03:02"),
        (3600, 600, "02-02 03:10"),
        (40_000, 10_800, "02-02 06:00"),
        (100_000, 10_800, "02-02 06:00"),
    ],
)
def test_ticks_of_a_short_time_stand_at_whole_seconds_minutes_or_hours(span: int, step: int, first: str) -> None:
    low = 1_770_001_234
    found = f"const ticks = timeTicks({low}, {low + span});"
    ticks, text = run(f"process.env.TZ = 'UTC'; {found} done([ticks, tickText(ticks[0], 'time')]);", {})
    assert text == first
    assert 3 <= len(ticks) <= 11
    assert all(low <= tick <= low + span and tick % step == 0 for tick in ticks)
    assert {b - a for a, b in pairwise(ticks)} == {step}


@pytest.mark.parametrize(("days", "step"), [(5, 1), (60, 7), (400, 91)])
def test_ticks_of_time_stand_at_whole_days(days: int, step: int) -> None:
    low = 1_770_001_234
    ticks = run(f"process.env.TZ = 'UTC'; done(timeTicks({low}, {low + days * 86400}));", {})
    assert 3 <= len(ticks) <= 11
    assert all(tick % 86400 == 0 for tick in ticks)
    assert {(b - a) // 86400 for a, b in pairwise(ticks)} == {step}
