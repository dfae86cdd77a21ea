"""iperf3 over TCP: the reasons of recorded failures, and reports that must not be believed."""

import dataclasses

import pytest

from apps.bench.toolkit import Output
from tests.bench.tools import recordings
from tests.bench.tools.reports import TOOL, edited, fail, parse_edited


@pytest.mark.parametrize(
    ("name", "code", "retryable", "words"),
    [
        ("err_refused.txt", "refused", True, "10.9.2.2"),
        ("err_refused_text.txt", "refused", True, "10.9.2.2"),
        ("err_unreach.txt", "no-route", True, "10.9.3.9"),
        ("err_noanswer.txt", "no-reply", True, "192.0.2.77"),
        ("err_busy.txt", "port-busy", True, "busy running a test"),
        ("err_badhost.txt", "bad-host", False, "nosuch.invalid"),
        ("err_bind.txt", "bad-host", False, "no interface with the data-plane address"),
        ("err_bad_cc.txt", "congestion-control-unavailable", False, "htcp"),
        ("err_buffer_refused.txt", "buffer-refused", False, "less socket buffer"),
        ("err_mss.txt", "bad-parameter", False, "MSS"),
        ("err_badP.txt", "bad-parameter", False, "maximum = 128"),
        ("err_badarg.txt", "unknown-option", False, "--frobnicate"),
        ("err_server_killed_mid.txt", "stopped", True, "control socket has closed"),
        ("err_server_term_mid.txt", "stopped", True, "the server has terminated"),
        ("err_client_term.txt", "stopped", True, "the client has terminated"),
    ],
)
def test_a_failure_has_its_reason(name, code, retryable, words):
    failure = fail([recordings.load("iperf3-tcp", name)], duration=1)
    assert failure.code == code
    assert failure.retryable is retryable
    assert words in str(failure.message)
    assert "north" in str(failure.message)
    assert str(failure.remedy)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("server_portbusy.txt", "port-busy", "Address already in use"),
        ("server_badaddress.txt", "bad-host", "Cannot assign requested address"),
    ],
)
def test_a_server_that_could_not_listen_tells_more_than_the_client(name, code, words):
    server = dataclasses.replace(recordings.load("iperf3-tcp", name, role="server"), node="south")
    for outputs in ([server], [server, recordings.load("iperf3-tcp", "err_refused.txt")]):
        failure = fail(outputs)
        assert failure.code == code
        assert words in str(failure.message)
        assert "south" in str(failure.message)


def test_a_server_that_listened_leaves_the_word_to_the_client():
    text = b"Server listening on 5201 (test #1)\niperf3: the client has terminated\n"
    server = Output("server", "serve", "south", ("iperf3", "-s"), text, b"", 1)
    assert fail([server, recordings.load("iperf3-tcp", "err_busy.txt")]).code == "port-busy"


@pytest.mark.parametrize("option", ["--bidir", "--connect-timeout"])
def test_an_option_that_older_versions_lack_means_the_version_is_too_old(option):
    text = f"iperf3: unrecognized option '{option}'\nUsage: iperf3 [-s|-c host] [options]\n".encode()
    failure = fail([Output("client", "measure", "north", ("iperf3",), b"", text, 1)])
    assert failure.code == "version-too-old"
    assert "3." in str(failure.message)


def test_an_old_version_is_refused_even_if_its_report_looks_right():
    def age(version):
        def edit(data):
            data["start"]["version"] = version

        return edit

    assert fail([edited("json_tcp.txt", age("iperf 3.1.3"))]).code == "version-too-old"
    assert parse_edited("json_tcp.txt", age("iperf 3.7")).tool_version == "3.7"
    assert parse_edited("json_tcp.txt", age("iperf 3.17.1+")).tool_version == "3.17.1+"
    # Up to 3.10 the sums of the two directions had one name.
    assert fail([edited("json_bidir.txt", age("iperf 3.10"))], direction="both").code == "version-too-old"


def test_partial_output_is_a_failure_however_much_was_sent():
    whole = recordings.load("iperf3-tcp", "json_tcp.txt")
    assert fail([dataclasses.replace(whole, timed_out=True)]).code == "timed-out"
    signalled = fail([dataclasses.replace(whole, signal=9)])
    assert signalled.code == "stopped"
    assert "9" in str(signalled.message)
    early = fail([whole], duration=10)
    assert early.code == "stopped"
    assert "2.0 s of 10 s" in str(early.message)


def test_no_output_at_all_is_no_result():
    assert fail([]).code == "no-result"
    silent = fail([Output("client", "measure", "north", ("iperf3",), b"", b"", None)])
    assert silent.code == "no-result"
    assert "nothing" in str(silent.message)
    odd = fail([Output("client", "measure", "north", ("iperf3",), b"Segmentation fault\n", b"", 139)])
    assert odd.code == "no-result"
    assert "Segmentation fault" in str(odd.message)


def test_a_report_that_is_cut_off_cannot_be_read():
    whole = recordings.load("iperf3-tcp", "json_tcp.txt")
    assert fail([dataclasses.replace(whole, stdout=whole.stdout[:1500])]).code == "unreadable"


def test_an_unknown_error_is_told_in_the_programs_own_words():
    def curse(data):
        data["error"] = "the moon is\u0000 in the wrong house"

    failure = fail([edited("json_tcp.txt", curse)])
    assert failure.code == "no-result"
    assert "the moon is  in the wrong house" in str(failure.message)


def test_warnings_before_the_report_do_no_harm():
    output = recordings.load("iperf3-tcp", "json_tcp.txt")
    noisy = dataclasses.replace(output, stdout=b"warning: clock skew\n" + output.stdout)
    assert TOOL.parse([noisy], TOOL.clean({"duration": 2})).value("goodput") == pytest.approx(912_723_462, rel=1e-6)


def remove(*path):
    def edit(data):
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        remove("end", "sum_received", "bits_per_second"),
        remove("end", "sum_received", "bytes"),
        remove("end", "sum_sent"),
        remove("end", "streams"),
        lambda data: data["end"].update(streams=[1, None]),
    ],
)
def test_a_report_without_its_figures_cannot_be_read(edit):
    assert fail([edited("json_tcp.txt", edit)]).code == "unreadable"


def test_a_report_that_contradicts_itself_is_refused():
    def forge(data):
        data["end"]["sum_received"]["bits_per_second"] *= 10

    failure = fail([edited("json_tcp.txt", forge)])
    assert failure.code == "unreadable"
    assert "contradicts" in str(failure.message)


@pytest.mark.parametrize("value", ["fast", None, True, -1, float("nan"), float("inf"), 10**400])
def test_figures_that_are_no_figures_are_left_out(value):
    def spoil(data):
        data["end"]["cpu_utilization_percent"]["host_total"] = value
        data["intervals"][0]["sum"]["bits_per_second"] = value
        data["end"]["streams"][0]["sender"]["max_snd_wnd"] = value

    reading = parse_edited("json_tcp.txt", spoil)
    assert reading.value("cpu_local") is None
    assert reading.value("window_observed") is None
    total = next(item for item in reading.series if (item.metric, item.stream) == ("sent_rate", "sum"))
    assert len(total.values) == 1
