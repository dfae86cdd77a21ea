"""A time or a rate printed as zero is less than its digits can show: it is stored as no figure, not as zero."""

import re

import pytest

from apps.bench import bounds, recognition, tools
from apps.bench.toolkit import Reading, SampleValue
from tests.bench.tools import recordings
from tests.bench.tools.reading import flags

_NUMBER = re.compile(rb"(?<![\d.:])\d{1,9}\.\d{1,6}(?![\d.])")
_ALWAYS_SOME = ("s", "bit/s", "B/s", "1/s", "op/s", "Mop/s")
# So many of a tool's recordings, the shortest that are read, and so many numbers of each.
_RECORDINGS, _LONGEST, _NUMBERS = 5, 6000, 40


def readings_of(raw):
    return [finding.reading for finding in recognition.read_file(raw) if finding.reading]


def short_recordings(slug):
    paths = [recordings.DATA / slug / name for name in recordings.names(slug)]
    texts = [path.read_bytes() for path in paths if path.stat().st_size <= _LONGEST and path.suffix != ".csv"]
    read = [raw for raw in sorted(texts, key=len) if len(readings_of(raw)) == 1]
    return read[:_RECORDINGS]


def with_zeros(raw):
    """Yield a recording with each of its numbers in turn as a figure too small for their digits is printed."""
    command = re.match(rb"(?:\$ .*\n)?", raw)[0]
    body = raw[len(command) :]
    for number in list(dict.fromkeys(match[0] for match in _NUMBER.finditer(body)))[:_NUMBERS]:
        zero = b"0." + b"0" * len(number.partition(b".")[2])
        yield command + re.sub(rb"(?<![\d.:])" + re.escape(number) + rb"(?![\d.])", zero, body)


@pytest.mark.parametrize("slug", sorted(tool.slug for tool in tools.all_tools()))
def test_no_reader_stores_a_rounded_zero(slug):
    always_some = {
        metric.name for metric in tools.get(slug).metrics if metric.unit in _ALWAYS_SOME and not metric.has_zero
    }
    for raw in short_recordings(slug):
        for changed in with_zeros(raw):
            for reading in readings_of(changed):
                assert [
                    item.metric for item in reading.samples if item.metric in always_some and not item.value
                ] == []


@pytest.mark.parametrize(
    ("name", "left_out"), [("near_report.txt", {"rtt_min"}), ("near_wide.txt", {"rtt_min", "rtt_mean"})]
)
def test_a_hop_that_is_too_near_for_one_decimal_has_no_time(name, left_out):
    (reading,) = readings_of((recordings.DATA / "mtr" / name).read_bytes())
    times = {"rtt_min", "rtt_mean", "rtt_max"}
    assert times - {sample.metric for sample in reading.samples} == left_out
    assert flags(reading) == {"below-digits": "info", "coarse-time": "warning"}
    (hop,) = reading.observed["hops"]
    assert {key for key in times if hop[key] is None} == left_out
    assert hop["rtt_s"] is None
    assert reading.value("loss") == 0


OF_DATAGRAMS = [
    tool.slug for tool in tools.all_tools() if {"goodput", "loss"} <= {metric.name for metric in tool.metrics}
]


@pytest.mark.parametrize("slug", OF_DATAGRAMS)
def test_a_rate_of_datagrams_that_were_all_lost_is_zero(slug):
    tool = tools.get(slug)
    may_be_zero = next(metric.has_zero for metric in tool.metrics if metric.name == "goodput")
    for loss, is_kept in ((1.0, True), (0.5, may_be_zero)):
        samples = (SampleValue("goodput", 0.0), SampleValue("loss", loss))
        reading = bounds.within(Reading(samples=samples, requested={}), tool)
        assert [sample.value for sample in reading.samples if sample.metric == "goodput"] == [0.0] * is_kept
