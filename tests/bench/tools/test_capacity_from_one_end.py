"""pchar and bing: the rate of each link from the growth of the RTT, and how far to believe it."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError
from tests.bench.tools import recordings
from tests.bench.tools.reading import changed, fail, flags, parse, read, recognised_as

NODES = {"server": [NodeRef("south", "192.0.2.2")], "client": [NodeRef("north", "192.0.2.1")]}


def test_pchar_finds_the_slowest_link():
    # The second link was emulated with 10 Mbit/s and 1 ms each way.
    reading = read("pchar", "udp.txt")
    assert reading.value("capacity") == pytest.approx(9884808.371)
    assert reading.value("rtt_min") == pytest.approx(2.292397e-3)
    assert reading.value("fit") == pytest.approx(0.998319)
    assert reading.value("hops") == 2
    assert reading.value("loss") == 0
    links = reading.observed["links"]
    assert [link["rate"] for link in links] == [None, pytest.approx(9884808.371)]
    assert links[1]["rtt"] == pytest.approx(2.241433e-3)
    assert reading.flags == ()
    assert read("pchar", "icmp.txt").value("capacity") == pytest.approx(10126184.953)


def test_pchar_on_links_without_a_delay_is_not_believed():
    fast = read("pchar", "too_fast.txt")
    assert fast.value("capacity") == pytest.approx(361558441.558)
    assert flags(fast) == {"capacity-uncertain": "invalid", "loss": "warning"}
    assert fast.value("loss") == pytest.approx(6 / 56)
    loopback = read("pchar", "loopback.txt")
    assert loopback.value("capacity") is None
    assert flags(loopback) == {"capacity-unknown": "warning"}


@pytest.mark.parametrize(
    ("slug", "name", "code", "words"),
    [
        ("pchar", "err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("pchar", "err_badopt.txt", "unknown-option", "option"),
        ("pchar", "err_notreached.txt", "not-reached", "10.9.11.1"),
        ("pchar", "err_permission.txt", "permission", "root"),
        ("bing", "err_badhost.txt", "bad-host", "nosuch.invalid"),
        ("bing", "err_badopt.txt", "unknown-option", "c"),
        ("bing", "err_noreply.txt", "no-reply", "10.9.12.3"),
        ("bing", "err_permission.txt", "permission", "not permitted"),
    ],
)
def test_a_failure_has_its_reason(slug, name, code, words):
    failure = fail(slug, recordings.load(slug, name))
    assert failure.code == code
    assert words in str(failure.message)


@pytest.mark.parametrize(
    "pairs",
    [
        [(b"Path bottleneck:   9884.808371", b"Path bottleneck:   98.808371")],
        [(b"Path length:       2 hops", b"Path length:       3 hops")],
        [(b"r2 = 0.998319\n                       stddev", b"r2 = ?\n                       stddev")],
        [(b"Path char:", b"Path chr:")],
    ],
)
def test_a_report_of_pchar_that_contradicts_itself_is_refused(pairs):
    assert fail("pchar", changed("pchar", "udp.txt", *pairs)).code == "unreadable"


def test_two_paths_in_one_output_are_refused():
    output = recordings.load("pchar", "udp.txt")
    assert fail("pchar", dataclasses.replace(output, stdout=2 * output.stdout)).code == "several-results"


def test_a_fit_between_is_a_warning():
    output = changed("pchar", "udp.txt", (b"r2 = 0.998319\n                       stddev", b"r2 = 0.95\n  "))
    assert flags(parse("pchar", output)) == {"capacity-uncertain": "warning"}


def test_bing_gives_its_last_whole_round():
    # The same links; it has no end of its own and was stopped after 8 s.
    reading = read("bing", "ok.txt")
    assert reading.value("capacity") == pytest.approx(9989220)
    assert reading.value("capacity_by_differences") == pytest.approx(9860470)
    assert reading.value("fit") == 0.999
    assert reading.value("hops") == 2
    assert reading.observed["hosts"] == ["10.9.11.2", "10.9.11.1", "10.9.12.2"]
    assert reading.observed["rounds"] == 131
    assert [link["points"] for link in reading.observed["links"]] == [2, 10]
    assert reading.flags == ()
    near = read("bing", "near.txt")
    assert (near.value("capacity"), near.value("hops")) == (9773500, 1)


def test_that_bing_was_stopped_is_the_way_it_ends():
    output = dataclasses.replace(recordings.load("bing", "ok.txt"), timed_out=True, signal=15, exit_code=None)
    assert parse("bing", output).value("capacity") == pytest.approx(9989220)


@pytest.mark.parametrize("name", ["starved.txt", "starved_far_end.txt", "starved_no_slope.txt"])
def test_a_round_without_a_line_is_a_reading_that_knows_no_rate(name):
    # Of a busy machine: the far end's correlation has 309 digits or is blank, or a link's rate has 17 digits.
    reading = read("bing", name)
    assert reading.value("hops") == 1
    assert reading.observed["hosts"] == ["127.0.0.1", "127.0.1.2"]
    assert "capacity" not in {sample.metric for sample in reading.samples}
    assert flags(reading) == {"capacity-unknown": "warning"}


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([(b"\n 2 10.9.12.2 ", b"\n 2 10.9.12.9 ")], "not-reached"),
        ([(b"\n 1 10.9.11.1 ", b"\n 7 10.9.11.1 ")], "unreadable"),
        ([(b"b/s,", b"b/S;")], "unreadable"),
    ],
)
def test_rounds_of_bing_that_are_damaged_are_refused(pairs, code):
    assert fail("bing", changed("bing", "ok.txt", *pairs)).code == code


def test_a_line_through_few_points_is_told():
    output = changed("bing", "ok.txt", (b"0.999/10,", b"0.999/2 ,"))
    assert flags(parse("bing", output)) == {"capacity-uncertain": "warning"}


def test_a_bing_stopped_before_it_printed_a_round_is_a_failure():
    output = recordings.load("bing", "ok.txt")
    cut = dataclasses.replace(output, stdout=output.stdout[:400], stderr=b"", timed_out=True)
    assert fail("bing", cut).code == "no-result"


def test_their_commands():
    pchar, bing = tools.get("pchar"), tools.get("bing")
    plan = pchar.plan(pchar.clean({"method": "udp", "gap": "1 s"}), NODES)
    assert " ".join(plan.stages[0].commands[0].argv) == (
        "pchar -n -p ipv4udp -R 8 -I 200 -m 1500 -g 1 -H 30 -t 3 -l 192.0.2.1 192.0.2.2"
    )
    command = bing.plan(bing.clean({"duration": 20}), NODES).stages[0].commands[0]
    assert command.argv == ("bing", "-n", "-S", "1472", "192.0.2.2")
    assert command.time_limit_s == 20
    assert not command.background


def test_a_line_needs_three_sizes():
    with pytest.raises(ParameterError) as caught:
        tools.get("pchar").clean({"increment": 800})
    assert set(caught.value.errors) == {"increment"}


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        *(("pchar", name) for name in ("udp.txt", "icmp.txt", "err_notreached.txt")),
        *(("bing", name) for name in ("ok.txt", "near.txt", "err_badhost.txt")),
    ],
)
def test_their_outputs_are_recognised(slug, name):
    assert recognised_as(slug, name) == [slug]
