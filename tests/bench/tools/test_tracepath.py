"""tracepath: readings and reasons of recorded outputs."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from tests.bench.tools import recordings

TOOL = tools.get("tracepath")


def parse(output):
    return TOOL.parse([output], TOOL.clean({}))


def fail(output):
    with pytest.raises(ToolFailure) as caught:
        parse(output)
    return caught.value


def changed(old, new):
    output = recordings.load("tracepath", "ok.txt")
    assert old in output.stdout
    return dataclasses.replace(output, stdout=output.stdout.replace(old, new))


@pytest.mark.parametrize(
    ("name", "mtu", "hops"), [("ok.txt", 9000, 3), ("pmtu_drop_to_1500.txt", 1500, 3), ("ipv6_scoped.txt", 65536, 1)]
)
def test_it_reads_path_mtu_and_hops(name, mtu, hops):
    reading = parse(recordings.load("tracepath", name))
    assert reading.value("path_mtu") == mtu
    assert reading.value("hops") == hops
    assert reading.value("rtt_min") > 0
    assert [hop["hop"] for hop in reading.observed["hops"]] == list(range(1, hops + 1))
    assert reading.flags == ()


def test_it_lists_each_hop_once():
    hops = parse(recordings.load("tracepath", "ok.txt")).observed["hops"]
    assert [hop["address"] for hop in hops] == ["10.9.1.1", "10.9.0.2", "10.9.2.2"]
    assert hops[2]["rtt_s"] == pytest.approx(4.87e-3)


def test_it_flags_an_answer_of_another_and_a_way_back_of_another_length():
    reading = parse(recordings.load("tracepath", "other_answers.txt"))
    assert [flag.name for flag in reading.flags] == ["answered-by-other", "asymmetric"]
    assert "21.4.0.101" in str(reading.flags[0].message)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("err_noroute.txt", "no-route", "10.0.0.1"),
        ("err_badopt.txt", "unknown-option", "z"),
        ("too_many_hops.txt", "not-reached", "21.4.0.101"),
    ],
)
def test_a_failure_has_its_reason(name, code, words):
    failure = fail(recordings.load("tracepath", name))
    assert failure.code == code
    assert words in str(failure.message)


def test_a_router_that_refuses_is_named():
    output = changed(b"4.870ms reached", b"4.870ms !N")
    stdout = output.stdout.replace(b" hops 3 back 3", b"")
    failure = fail(dataclasses.replace(output, stdout=stdout))
    assert failure.code == "no-route"
    assert "10.9.2.2 !N" in str(failure.message)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"hops 3", b"hops 4"), (b"4.870ms reached", b"4.8.0ms reached"), (b"pmtu 9000 hops", b"pmtu 0 hops")],
)
def test_a_report_that_contradicts_itself_is_refused(old, new):
    assert fail(changed(old, new)).code == "unreadable"


def test_a_report_without_its_end_is_refused():
    assert fail(changed(b"Resume", b"Rezume")).code == "unreadable"
    assert fail(Output("client", "measure", "north", ("tracepath", "x"), b"", b"", 1)).code == "no-result"


def test_a_run_cut_short_is_a_failure():
    assert fail(dataclasses.replace(recordings.load("tracepath", "ok.txt"), timed_out=True)).code == "timed-out"
