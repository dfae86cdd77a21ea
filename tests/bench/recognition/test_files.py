"""Files are cut into the outputs they hold."""

import pytest

from apps.bench.recognition import split_file

PING = b"PING a (10.0.0.1) 56(84) bytes of data.\n64 bytes\n"


def shown(raw):
    return [(output.argv, output.stdout, output.stderr, output.exit_code) for output in split_file(raw)]


def test_a_recording_has_its_command_status_and_stderr():
    raw = b"$ iperf3 -c 'a b' -J\n{}\n[exit 1]\n--- stderr:\nbad\n"
    assert shown(raw) == [(("iperf3", "-c", "a b", "-J"), b"{}\n", b"bad\n", 1)]


def test_recordings_stand_one_after_the_other():
    raw = b"$ ping a\nx\n[exit 0]\n\n$ ping b\ny\n[exit 2]\n--- stderr:\nz\n"
    assert shown(raw) == [
        (("ping", "a"), b"x\n", b"", 0),
        (("ping", "b"), b"y\n", b"z\n", 2),
    ]


def test_a_line_like_a_command_within_an_output_is_the_outputs():
    raw = b"$ sh run\n$ not a command\n[exit 0]\n$ ping b\n[exit 0]\n"
    assert [output.argv for output in split_file(raw)] == [("sh", "run"), ("ping", "b")]


def test_the_trace_of_a_shell_is_a_list_of_commands():
    raw = b"+ ping -c 1 a\n" + PING + b"++ ethtool x\nSpeed\n"
    assert [output.argv for output in split_file(raw)] == [("ping", "-c", "1", "a"), ("ethtool", "x")]


def test_a_plain_file_is_one_output_without_a_command():
    assert shown(b"hello\nworld\n") == [((), b"hello\nworld\n", b"", None)]


def test_several_reports_in_a_plain_file_are_told_apart():
    assert [output.stdout for output in split_file(PING + b"\n" + PING)] == [PING + b"\n", PING]
    assert [output.stdout for output in split_file(b'{"a": 1}\n{"b": {}}')] == [b'{"a": 1}', b'{"b": {}}']


def test_a_log_beside_a_report_is_one_output():
    raw = b'{"a": 1}\nwarning\n'
    assert [output.stdout for output in split_file(raw)] == [raw]


@pytest.mark.parametrize("raw", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
def test_nothing_holds_nothing(raw):
    assert split_file(raw) == []


@pytest.mark.parametrize(
    ("code", "signal"), [(b"137", 9), (b"143", 15), (b"132", None), (b"255", None), (b"0", None)]
)
def test_a_status_that_tells_of_a_signal_is_one(code, signal):
    (output,) = split_file(b"$ ping a\n[exit " + code + b"]\n")
    assert output.signal == signal


def test_a_limit_that_was_reached_is_known_by_the_program_that_sets_it():
    (limited,) = split_file(b"$ timeout 5 iozone -a\n[exit 124]\n")
    (other,) = split_file(b"$ iozone -a\n[exit 124]\n")
    assert (limited.timed_out, other.timed_out) == (True, False)


def test_an_open_quotation_mark_is_no_obstacle():
    (output,) = split_file(b"$ ping 'a\nx\n")
    assert output.argv == ("ping", "'a")
