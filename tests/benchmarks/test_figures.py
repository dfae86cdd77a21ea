"""One line a figure, and the same as JSON."""

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as program
from benchmarks import figures
from benchmarks.figures import Figure, Skipped
from benchmarks.stack import BenchmarkError

GAP = Figure("gap", 41.26, "ms", "a shell loop", 1.25, "at most 100 ms", "30 trials")


def test_a_line_holds_name_value_unit_comparison_and_ratio() -> None:
    expected = "gap: 41.26 ms (target: at most 100 ms); a shell loop 1.25 ms, ratio 33.01 [30 trials]"
    assert figures.line_of(GAP) == expected


def test_a_figure_without_a_baseline_has_no_ratio() -> None:
    assert figures.line_of(Figure("size", 12345.6, "B", "nothing")) == "size: 12,346 B; nothing"
    assert Figure("size", 1.0, "B", "nothing", 0.0).ratio is None


def test_a_skipped_figure_says_why() -> None:
    assert figures.line_of(Skipped("rate", "root is needed")) == "rate: skipped, root is needed"


def test_json_holds_the_same_figures() -> None:
    data = figures.as_json([GAP, Skipped("rate", "root is needed")])
    assert data["figures"][0]["value"] == 41.26
    assert data["figures"][0]["ratio"] == pytest.approx(33.008)
    assert data["skipped"] == [{"name": "rate", "reason": "root is needed"}]


def test_it_prints_what_it_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "measure", lambda groups: iter([GAP]))
    monkeypatch.setenv("JSON", str(tmp_path / "figures.json"))
    assert program.main([]) == 0
    assert capsys.readouterr().out == figures.line_of(GAP) + "\n"
    assert json.loads((tmp_path / "figures.json").read_text())["figures"][0]["name"] == "gap"


def test_what_was_measured_before_a_failure_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(groups: object) -> object:
        yield GAP
        raise BenchmarkError("The agents fell silent.")

    monkeypatch.setattr(program, "measure", measure)
    monkeypatch.setenv("JSON", str(tmp_path / "figures.json"))
    assert program.main([]) == 1
    assert capsys.readouterr().err == "bench: The agents fell silent.\n"
    assert len(json.loads((tmp_path / "figures.json").read_text())["figures"]) == 1


def test_it_refuses_a_benchmark_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["gaps"]) == 2
    groups = ", ".join(program.GROUPS)
    assert f"There is no benchmark gaps; there are {groups}." in capsys.readouterr().err
