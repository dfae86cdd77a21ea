"""What jobs of fio moved together is what its own line of their group says; several groups are not together."""

import re
import subprocess

import pytest

from tests.bench.tools import reading, recordings
from tests.bench.tools.test_real_programs import needs

_GROUP = re.compile(r"^ +(READ|WRITE): bw=\S+ \((?P<rate>[\d.]+)(?P<unit>[kMG]?)B/s\)", re.M)
# The times of the jobs of a group, from the shortest to the longest (ms).
_RUN = re.compile(r"^ +(READ|WRITE): bw=.*, run=\d+-(?P<longest>\d+)msec$", re.M)
_SCALE = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
FORMS = {
    "apart": ("--numjobs=2",), "together": ("--numjobs=2", "--group_reporting"), "one": (),
    "unequal": ("--name=other", "--size=2m", "--rw=write", "--bs=4k"),
}  # fmt: skip


def group_lines(text):
    return {match[1].lower(): float(match["rate"]) * _SCALE[match["unit"]] for match in _GROUP.finditer(text)}


def group_times(text):
    """Return {way: the time (s) that fio says of the group}."""
    return {match[1].lower(): int(match["longest"]) / 1e3 for match in _RUN.finditer(text)}


@pytest.mark.parametrize("name", ["in_turn.txt", "in_turn_json.txt", "in_turn_terse.txt"])
def test_jobs_in_turn_are_several_results(name):
    problem = reading.fail("fio", recordings.load("fio", name))
    assert problem.code == "several-results"
    assert problem.message.params["n"] == 2


def test_unequal_jobs_have_the_rate_of_their_group():
    output = recordings.load("fio", "unequal.txt")
    parsed = reading.parse("fio", output)
    figures = reading.figures(parsed)
    group_rates = group_lines(output.stdout.decode())
    assert group_rates == {"read": 565e6, "write": 613e6}
    assert {name: figures[name] for name in group_rates} == pytest.approx(group_rates, rel=0.01)
    # Its time is what fio reports of the group, not that of one of its jobs.
    assert group_times(output.stdout.decode()) == {"read": 0.114, "write": 0.114}
    assert {way: parsed.observed["measured_s"][way] for way in ("read", "write")} == {"read": 0.114, "write": 0.114}


@needs("fio")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("output", ["normal", "json", "terse"])
def test_a_real_group_in_every_form_has_the_rate_of_its_own_line(tmp_path, form, output):
    argv = ["fio", f"--directory={tmp_path}", "--name=w", "--rw=write", "--bs=64k", "--size=16m", *FORMS[form]]
    argv += [
        "--thinktime=300",
        "--end_fsync=0",
        f"--output-format={output},normal" if output != "normal" else "--eta=never",
    ]
    text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    group_rate, group_time = group_lines(text)["write"], group_times(text)["write"]
    # Only the form in question is left: the others are read first or last, never together.
    if output == "json":
        text = text[text.index("\n{\n") + 1 : text.rindex("\n}\n") + 3]
    if output == "terse":
        text = "\n".join(line for line in text.splitlines() if line.startswith("3;"))
    parsed = reading.parse("fio", reading.said("fio", text.encode()))
    figures = reading.figures(parsed)
    # Times are in whole milliseconds, rates of people's reports of three digits.
    assert figures["write"] == pytest.approx(group_rate, rel=0.02)
    assert parsed.observed["measured_s"]["write"] == pytest.approx(group_time, abs=0.0011)
