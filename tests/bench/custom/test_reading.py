"""What definitions read from real outputs, and why they read nothing."""

import dataclasses

import pytest

from apps.bench import custom
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.custom import definitions


def parse(tool, output, **params):
    return tool.parse([dataclasses.replace(output, role="node")], tool.clean(params))


def printed(text, code=0, **fields):
    return Output("node", "measure", "north", ("site",), text.encode(), b"", code, **fields)


def tool(**changes):
    return custom.make_tool(custom.read_definition(definitions.minimal(**changes)), "site.v1")


def fail(made, output, **params):
    with pytest.raises(ToolFailure) as caught:
        parse(made, output, **params)
    return caught.value


def test_openssl_speed_gives_its_rate_in_bytes_per_second():
    reading = parse(definitions.tool("site-digest"), definitions.output("openssl_speed.txt"))
    text = definitions.output("openssl_speed.txt").stdout.decode()
    figure = float(text.splitlines()[-1].split()[-1].removesuffix("k"))
    assert reading.value("speed") == pytest.approx(figure * 1000)
    assert reading.tool_version == "3.0.19"
    assert reading.flags == ()


def test_the_words_for_a_failure_are_its_reason():
    failure = fail(definitions.tool("site-digest"), definitions.output("openssl_err_digest.txt"))
    assert failure.code == "no-result"
    assert "nosuch is an unknown cipher or digest" in str(failure.message)


@pytest.mark.parametrize("field", ["failure", "success", "version"])
def test_a_pattern_stored_before_large_ones_were_refused_is_not_searched_for(field):
    made = custom.make_tool(custom.restore_definition(definitions.minimal(**{field: "[a-z]{900}" * 3})), "site.v1")
    failure = fail(made, printed("rate: 5"))
    assert failure.code == "unreadable"
    assert failure.message.params["fields"] == field
    assert not failure.retryable


def test_dd_prints_the_unit_with_its_figure():
    reading = parse(definitions.tool("site-zero"), definitions.output("dd.txt"))
    assert reading.value("copied") == 65536 * 20000
    assert reading.value("rate") == pytest.approx(reading.value("copied") / reading.value("seconds"), rel=0.05)


def test_a_program_that_read_nothing_lacks_its_metric():
    failure = fail(definitions.tool("site-zero"), definitions.output("dd_err_nofile.txt"))
    assert "Rate" in str(failure.message)
    assert failure.code == "no-result"


def test_a_condition_that_does_not_hold_makes_the_result_implausible():
    failure = fail(definitions.tool("site-zero"), definitions.output("dd.txt"), count=7)
    assert failure.code == "implausible"
    assert "copied == block * count" in str(failure.message)
    assert "count = 7" in str(failure.message)


@pytest.mark.parametrize(
    ("take", "expected"),
    [("last", 3e6), ("first", 1e6), ("minimum", 1e6), ("maximum", 5e6), ("mean", 3e6), ("sum", 9e6)],
)
def test_of_several_matches_the_one_asked_for_counts(take, expected):
    metric = {"name": "rate", "unit": "MB/s", "where": r"rate: (\d+)", "take": take}
    made = tool(metrics=[metric])
    assert parse(made, printed("rate: 1\nrate: 5\nrate: 3\n")).value("rate") == expected


def test_a_json_path_finds_figures_behind_other_lines():
    metrics = [
        {"name": "bw", "unit": "B/s", "find": "json", "where": "jobs[0].read.bw_bytes"},
        {
            "name": "worst",
            "unit": "us",
            "better": "lower",
            "find": "json",
            "where": "$.jobs[*].lat",
            "take": "maximum",
        },
        {"name": "extra", "unit": "", "find": "json", "where": '["not there"]', "optional": True},
    ]
    text = 'note: warming up\n{"jobs": [{"read": {"bw_bytes": 12}, "lat": 3}, {"lat": "7.5"}]}\nbye\n'
    reading = parse(tool(metrics=metrics), printed(text))
    assert {sample.metric: sample.value for sample in reading.samples} == pytest.approx({"bw": 12, "worst": 7.5e-6})


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("nothing", "no-result", "rate"),
        ("", "no-result", "rate"),
        ("rate: 5 but FAILED\n", "no-result", "FAILED"),
        ("rate: 5\n", "no-result", "verified"),
    ],
)
def test_what_is_missing_is_said(text, code, words):
    made = tool(success="verified", failure="FAILED") if "rate" in text else tool()
    failure = fail(made, printed(text))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_decimal_comma_is_no_number():
    metric = {"name": "rate", "unit": "MB/s", "where": r"rate: (\S+)"}
    failure = fail(tool(metrics=[metric]), printed("rate: 1,5\n"))
    assert failure.code == "unreadable"
    assert "1,5" in str(failure.message)


def test_a_unit_of_another_kind_is_refused():
    metric = {"name": "rate", "unit": "B/s", "where": r"rate: (?P<value>\d+) (?P<unit>\S+)"}
    assert parse(tool(metrics=[metric]), printed("rate: 5 kB/s")).value("rate") == 5000
    failure = fail(tool(metrics=[metric]), printed("rate: 5 ms"))
    assert "ms" in str(failure.message)


def test_a_result_file_is_read_instead_of_stdout():
    made = tool(result_file="out.txt")
    reading = parse(made, printed("rate: 1", collected={"out.txt": b"rate: 2"}))
    assert reading.value("rate") == 2e6
    assert "out.txt" in str(fail(made, printed("rate: 1")).message)


def test_a_bad_exit_status_is_a_doubt_and_no_verdict():
    reading = parse(tool(), printed("rate: 5", code=3))
    assert [flag.name for flag in reading.flags] == ["exit-status"]


def test_a_program_that_was_stopped_has_no_result():
    assert fail(tool(), printed("rate: 5", timed_out=True)).code == "timed-out"
    assert fail(tool(), printed("rate: 5", signal=9)).code == "stopped"


def test_the_argv_of_a_recorded_run_tells_its_parameters():
    made = definitions.tool("site-digest")
    output = definitions.output("openssl_speed.txt")
    assert made.recognises(output)
    assert made.clean(made.recover(output)) == {"digest": "sha256", "block": 16384, "duration": 1.0}
