"""The sample campaign measures the setting that is there at present beside those that are tried."""

from apps.bench import tools
from apps.bench.rules import presence
from apps.bench.sweep.values import parse_factor
from launch.demo import sample, show


def test_the_window_that_nobody_asks_for_is_swept_with_the_others() -> None:
    tool = tools.get("iperf3-tcp")
    [sweep] = [item for item in sample.experiments(1, 2) if item["name"] == "Window sweep"]
    [factor] = sweep["factors"]
    [parameter] = [item for item in tool.parameters if item.name == factor["name"]]
    values = parse_factor(parameter, factor["expression"])
    assert presence.DEFAULTS[tool.slug]["window"] == parameter.default == values[0] == sample.AUTOMATIC
    assert len(values) * sweep["repetitions"] == 27


def test_the_table_names_it_and_a_finding_has_its_flags_beside_the_confidence() -> None:
    group = {"x": 0, "mean": 9e8, "ci_low": None, "ci_high": None, "n": 3}
    text = show.table({"name": "Windows"}, {"unit": "bit/s", "x": "window", "metric": "goodput", "groups": [group]})
    assert "autotuned" in text
    assert "0 B" not in text
    found = {
        "title": "Ask", "confidence": 0.9, "details": {"why": []}, "change": "", "trials": [1, 2], "flagged": 1,
        "flags": {"processor-full": 1},
    }  # fmt: skip
    assert "* Ask (confidence 90 %; 1 of 2 trials flagged: processor-full × 1)" in show.finding(found)
    assert "flagged" not in show.finding(found | {"flagged": 0, "flags": {}})
