"""Where an output says one thing twice and differently, that is a doubt; one that agrees with itself has none."""

import dataclasses
import re

import pytest

from apps.bench import judges, tools
from apps.bench.rules import base, pace
from apps.bench.toolkit import ToolFailure, doubts
from tests.bench.tools import reading, recordings

# Where each tool prints the size of a datagram: with another size the bytes are not those of the datagrams.
SIZES = {
    "iperf3-udp": re.compile(rb'("blksize":\s*)(\d+)'),
    "iperf2": re.compile(rb"(Sending )(\d+)(?= byte datagrams)"),
    "nuttcp": re.compile(rb"(buflen=)(\d+)"),
}


def of_datagrams(slug):
    """Return the recordings that tell how large the datagrams were and how many arrived."""
    for name in recordings.names(slug):
        output = recordings.load(slug, name)
        try:
            found = reading.parse(slug, output)
        except ToolFailure:
            continue
        if found.value("loss") not in (None, 1.0) and found.value("goodput") and SIZES[slug].search(output.stdout):
            yield name


def of(output, slug):
    return [flag for flag in reading.parse(slug, output).flags if flag.name == doubts.CONTRADICTS]


@pytest.mark.parametrize(("slug", "name"), [(slug, name) for slug in SIZES for name in of_datagrams(slug)])
def test_bytes_that_are_not_those_of_the_datagrams_are_doubted(slug, name):
    output = recordings.load(slug, name)
    assert not of(output, slug), [str(flag.message) for flag in of(output, slug)]
    for factor in (0.9, 1.1):
        length = round(factor * int(SIZES[slug].search(output.stdout)[2]))
        text = SIZES[slug].sub(rb"\g<1>%d" % length, output.stdout)
        flags = of(dataclasses.replace(output, stdout=text), slug)
        assert {"goodput", "loss"} <= set(flags[0].metrics)


def test_rules_blame_nothing_by_it():
    flagged = frozenset({1})
    point = base.Point(
        parameters={}, metrics={"goodput": {1: 5e7, 2: 6e7}}, warnings=frozenset({doubts.CONTRADICTS}),
        flagged={doubts.CONTRADICTS: flagged},
    )  # fmt: skip
    assert pace.undoubted(point, "goodput") == [6e7]


@pytest.mark.parametrize("slug", [tool.slug for tool in tools.all_tools()])
def test_what_a_program_warns_of_is_told(slug):
    """Any of its outputs, with a warning as programs print them, tells of it in the program's words."""
    tool = tools.get(slug)
    for name in recordings.names(slug) if (recordings.DATA / slug).is_dir() else ():
        output = recordings.load(slug, name)
        try:
            params = tool.clean(tool.recover(output))
            before = judges.read_run([output], params, tool)
        except (ToolFailure, ValueError):
            continue
        for line in (b"WARNING: the clock went backwards\n", b"prog: warning: the clock went backwards\n"):
            noisy = dataclasses.replace(output, stderr=output.stderr + line)
            after = judges.read_run([noisy], params, tool)
            (flag,) = [flag for flag in after.flags if flag.name == "program-warned"]
            assert "the clock went backwards" in str(flag.message)
            assert reading.figures(after) == reading.figures(before)
        return


def test_netperf_says_that_it_missed_its_confidence():
    found = reading.read("netperf", "confidence_missed.txt")
    (flag,) = [flag for flag in found.flags if flag.name == doubts.UNCERTAIN]
    assert "188.927 %" in str(flag.message)
    assert doubts.UNCERTAIN in pace.DOUBTED


def test_what_concerns_no_figure_is_not_repeated():
    output = recordings.load("ping", "ok.txt")
    tool = tools.get("ping")
    params = tool.clean(tool.recover(output))
    line = b'WARNING: The file "/f.00000001" exists already and will be overwritten\n'
    found = judges.read_run([dataclasses.replace(output, stderr=line)], params, tool)
    assert "program-warned" not in reading.flags(found)
