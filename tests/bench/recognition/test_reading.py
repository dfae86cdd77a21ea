"""The right tool is found, doubts are said, and what is no output is refused in words."""

import pytest

from apps.bench import recognition, tools
from apps.bench.toolkit import Output
from tests.bench.custom import definitions
from tests.bench.tools import recordings

PING, TCP, UDP = tools.get("ping"), tools.get("iperf3-tcp"), tools.get("iperf3-udp")


def plain(stdout, stderr=b"", argv=()):
    return Output("", "measure", "this node", argv, stdout, stderr, None)


def without_command(slug, name):
    output = recordings.load(slug, name)
    return plain(output.stdout, output.stderr)


def test_a_plain_output_tells_its_parameters_itself():
    finding = recognition.read_output(without_command("ping", "ok.txt"))
    assert finding.slug == "ping"
    assert finding.parameters["count"] == 10
    assert finding.parameters["interval"] == pytest.approx(0.2)
    assert finding.reading.value("rtt_min") == pytest.approx(4.788e-3)


@pytest.mark.parametrize("name", ["text_tcp.txt", "json_tcp.txt", "json_bidir.txt", "text_bidir_P2.txt"])
def test_iperf3_is_known_without_a_command(name):
    assert recognition.read_output(without_command("iperf3-tcp", name)).slug == "iperf3-tcp"


def test_the_protocol_chooses_between_iperf3s_tools():
    assert recognition.read_output(without_command("iperf3-udp", "json_udp.txt")).slug == "iperf3-udp"
    assert recognition.read_output(without_command("iperf3-udp", "text_P2.txt")).slug == "iperf3-udp"


def test_a_failure_that_two_tools_share_names_both():
    finding = recognition.read_output(without_command("iperf3-tcp", "err_refused.txt"))
    assert finding.candidates == ("iperf3-tcp", "iperf3-udp")
    assert finding.tool is None
    assert finding.failure.code == "refused"


def test_what_two_tools_can_read_is_left_to_the_reader():
    twins = [definitions.tool("site-digest"), definitions.tool("site-digest", summary="Twin")]
    finding = recognition.read_output(definitions.output("openssl_speed.txt"), twins)
    assert finding.failure.code == "ambiguous"
    assert "site-digest.v1, site-digest.v1" in str(finding.failure.message)


def test_a_tool_that_is_named_reads_alone():
    finding = recognition.read_output(without_command("iperf3-udp", "json_udp.txt"), [TCP])
    assert finding.slug == "iperf3-tcp"
    assert "of UDP, not of TCP" in str(finding.failure.message)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (plain(b"root:x:0:0\n"), "root:x:0:0"),
        (plain(b"", argv=("ls", "-l")), "ls -l"),
        (plain(b"", b"\n"), "nothing in it"),
    ],
)
def test_what_is_no_output_is_refused_in_words(output, words):
    finding = recognition.read_output(output)
    assert finding.slug == ""
    assert finding.failure.code == "unrecognised"
    assert words in str(finding.failure.message)


def test_a_programs_name_is_enough_where_it_printed_nothing():
    finding = recognition.read_output(plain(b"", argv=("ip", "netns", "exec", "a", "/usr/bin/ping", "10.0.0.1")))
    assert finding.slug == "ping"
    assert finding.failure.code == "no-result"


def test_results_within_one_output_are_read_one_by_one():
    loop = b"$ qperf 10.0.0.1 tcp_bw\n" + b"".join(b"tcp_bw:\n    bw  =  %d MB/sec\n" % rate for rate in (100, 120))
    found = recognition.read_file(loop + b"[exit 0]\n")
    assert [item.reading.value("goodput") for item in found] == [800e6, 960e6]


def test_a_schedulers_output_is_data():
    finding = recognition.read_output(plain(b"Submitted batch job 8\n", argv=("sbatch", "ok.sh")))
    assert (finding.slug, finding.data["scheduler"]) == ("scheduler", "slurm")
