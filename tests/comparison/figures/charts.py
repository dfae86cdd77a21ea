"""One small chart of each kind."""

from typing import Any

LINE: dict[str, Any] = {
    "kind": "line",
    "metric": {"name": "goodput", "label": "Goodput", "unit": "bit/s", "log": False},
    "x": {"name": "window", "label": "Window", "unit": "B", "numeric": True, "log": True},
    "series": [
        {
            "label": "Streams 1",
            "points": [
                {
                    "x": 65536,
                    "y": 1.4e8,
                    "low": 1.3e8,
                    "high": 1.5e8,
                    "n": 3,
                    "points": [1.3e8, 1.5e8],
                    "flagged": 1,
                    "flags": "1 of 3 figures flagged: stalled × 1",
                    "hollow": [0],
                },
                {"x": 131072, "y": 2.8e8, "low": None, "high": None, "n": 1},
                {"x": 262144, "y": None},
            ],
        },
        {"label": "스트림 4 $x^2$", "points": [{"x": 65536, "y": 5.5e8}]},
    ],
    "individual": True,
    "lines": [
        {"axis": "y", "value": 9.9e8, "label": "Ceiling"},
        {"axis": "x", "value": 600000, "label": "BDP"},
        {"axis": "y", "value": 2e8, "label": "", "from": 65536, "to": 131072, "style": "change"},
    ],
}
WORDS: dict[str, Any] = {
    "metric": {"label": "Goodput", "unit": "bit/s"},
    "x": {"label": "Congestion control", "unit": "", "numeric": False, "log": False},
    "series": [{"label": "", "points": [{"x": "cubic", "y": 9e8}, {"x": "bbr", "y": 9.3e8}]}],
}
TIME: dict[str, Any] = {
    "metric": {"label": "Goodput", "unit": "bit/s", "min": 0, "max": 1e9},
    "x": {"label": "Measured", "unit": "time", "numeric": True},
    "series": [{"label": "", "points": [{"x": 1.77e9 + 604800 * week, "y": 9e8} for week in range(3)]}],
}
HEAT: dict[str, Any] = {
    "kind": "heat",
    "metric": {"label": "Goodput", "unit": "bit/s", "log": True},
    "x": {"label": "Window", "labels": ["64 KiB", "1 MiB"]},
    "y": {"label": "Streams", "labels": ["1", "4"]},
    "cells": [
        {"x": 0, "y": 0, "v": 1.4e8},
        {"x": 1, "y": 1, "v": 9.9e8, "flagged": 1, "flags": "flagged: stalled"},
        {"x": 0, "y": 1, "v": None},
    ],
}
BOX: dict[str, Any] = {
    "kind": "box",
    "metric": {"label": "Write rate", "unit": "B/s", "log": False},
    "x": {"label": "File system", "labels": ["GPFS", "NFS"]},
    "series": [
        {
            "label": "1 client",
            "boxes": [
                {"x": 0, "n": 5, "min": 1, "q1": 2, "median": 3, "q3": 4, "max": 9, "whisker_low": 1,
                 "whisker_high": 5, "mean": 3.8, "outliers": [9], "points": [1, 2, 3, 4, 9]},
            ],
        },
        {"label": "4 clients", "boxes": []},
    ],
    "individual": True,
    "lines": [{"axis": "y", "value": 8, "label": "Ceiling", "style": "theory"}],
}  # fmt: skip
PARALLEL: dict[str, Any] = {
    "kind": "parallel",
    "axes": [
        {"label": "Window", "unit": "B", "log": True},
        {"label": "Congestion control", "unit": "", "labels": ["cubic", "bbr"]},
        {"label": "Goodput", "unit": "bit/s"},
    ],
    "rows": [[65536, 0, 1.4e8], [1048576, 1, 9.9e8], [None, 1, 5e8]],
    "ids": [1, 2, 3],
    "colour": 2,
    "hollow": [1],
    "ranges": [None, [0.5, 1.0], None],
}
ALL = {"line": LINE, "words": WORDS, "time": TIME, "heat": HEAT, "box": BOX, "parallel": PARALLEL}
