"""Every form in which a real program prints a measurement is recognised, and gives the figures that the form has."""

import contextlib
import shlex
import subprocess
import time

import pytest

from apps.bench import recognition
from tests.bench.tools.test_real_programs import PATH, needs
from tests.ports import free_port

PING = "ping -c 3 -i 0.05"
MTR = "mtr -c 2 -i 0.1 -G 0.3"
RTTS = {"rtt_min", "rtt_mean", "rtt_max"}
OF_PING = {*RTTS, "rtt_mdev", "loss"}
OF_MTR = {*RTTS, "hops", "rtt_deviation", "loss"}
OF_TRACEROUTE = {*RTTS, "hops"}
OF_TRACEPATH = {"path_mtu", "hops", "rtt_min"}
# Command, tool, figures, parameters that every form tells without the command.
FORMS = [
    *[(f"{PING} {form}", "ping", OF_PING, {"count": 3, "payload": 56}) for form in (
        "-n 127.0.0.1", "localhost", "-D localhost", "-q localhost", "-v localhost", "-O localhost", "-6 ::1")],
    (f"{PING} -s 8 localhost", "ping", {"loss"}, {"count": 3}),
    *[(f"traceroute -q 2 {form}", "traceroute", OF_TRACEROUTE, {"max_hops": 30}) for form in (
        "-n 127.0.0.1", "localhost", "-6 ::1")],
    *[(f"tracepath {form}", "tracepath", OF_TRACEPATH, {}) for form in ("-n 127.0.0.1", "localhost", "-b localhost")],
    *[(f"{MTR} {form} localhost", "mtr", OF_MTR, {"count": 2}) for form in (
        "-j", "-j -n", "-r", "-r -n", "-r -w -b", "-r -z", "-r -o 'LSR NABWV MI'", "-C", "-C -n", "--xml", "-l")],
]  # fmt: skip
ALONE = {"streams": 1}
OF_UDP = {"goodput", "offered_load", "loss", "jitter"}
SERVED = [
    *[(f"iperf3 -t 1 {form} -c 127.0.0.1 -p PORT", "iperf3-tcp", {"goodput", "sent_rate"}, ALONE) for form in (
        "-i 1", "-J", "-V", "-f M", "-f g", "--timestamps", "-T WAN", "-i 0", "--get-server-output")],
    *[(f"iperf3 -u -b 5M -t 1 {form} -c 127.0.0.1 -p PORT", "iperf3-udp", OF_UDP, ALONE)
      for form in ("-i 1", "-J", "--timestamps")],
    *[(f"iperf -t 1 {form} -c 127.0.0.1 -p PORT", "iperf2", {"sent_rate"}, {"protocol": "tcp", "duration": 1.0})
      for form in ("-f m", "-i 1", "-e", "-y C", "-f M")],
    *[(f"nuttcp -T 1 {form} -P PORT 127.0.0.1", "nuttcp", {"goodput", "retransmits", "connect_rtt", "cpu_sender"},
       {"protocol": "tcp", "duration": 1.0}) for form in ("-b", "-i 1", "-v", "-fparse", "-fxmitstats")],
    *[(f"netperf -l 1 {form} -H 127.0.0.1 -p PORT", "netperf", {"goodput"}, {"test": "TCP_STREAM", "duration": 1.0})
      for form in ("-f m", "-f M", "-f K", "-c -C", "-v 2", "-t TCP_STREAM")],
    ("netperf -l 1 -t omni -H 127.0.0.1 -p PORT -- -o PROTOCOL,DIRECTION,THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME",
     "netperf", {"goodput"}, {"test": "TCP_STREAM", "duration": 1.0}),
    ("netperf -l 1 -t TCP_RR -H 127.0.0.1 -p PORT", "netperf", {"rtt_mean", "transaction_rate"}, {"test": "TCP_RR"}),
]  # fmt: skip
# Seconds that iperf and its server may take for a second of sending.
LONGEST = 1.8
SERVERS = {
    "iperf3": ["iperf3", "-s", "-1", "-p"],
    "iperf": ["iperf", "-s", "-p"],
    "nuttcp": ["nuttcp", "-S", "--nofork", "-1", "-P"],
    "netperf": ["netserver", "-D", "-p"],
}


def cases(forms):
    return [pytest.param(*form, marks=needs(form[0].split()[0]), id=form[0]) for form in forms]


def run(command, port=""):
    argv = [port if word == "PORT" else word for word in shlex.split(command)]
    return subprocess.run(argv, capture_output=True, check=False, timeout=60, env={"PATH": PATH, "LANG": "C"})


def judge(raw, slug, metrics, parameters):
    (finding,) = recognition.read_file(raw)
    assert finding.failure is None, f"{finding.failure.message}\n{raw.decode()}"
    assert finding.slug == slug
    read = {sample.metric: sample.value for sample in finding.reading.samples}
    assert all(value >= 0 for value in read.values())
    # What is too near is less than mtr's one decimal can show.
    below = [flag.message.params["metrics"] for flag in finding.reading.flags if flag.name == "below-digits"]
    read |= dict.fromkeys(name for names in below for name in names.split(", "))
    assert metrics <= read.keys()
    tool = finding.tool
    # How long it was to run is not known of one that a full machine kept at it for longer.
    parameters = {
        name: value for name, value in parameters.items() if name != "duration" or name in finding.parameters
    }
    told, wanted = tool.clean(finding.parameters), tool.clean(parameters)
    assert {name: told[name] for name in parameters} == {name: wanted[name] for name in parameters}
    assert parameters.keys() <= finding.parameters.keys()
    return read


@pytest.mark.parametrize(("command", "slug", "metrics", "parameters"), cases(FORMS))
def test_what_a_program_prints_by_itself(command, slug, metrics, parameters):
    done = run(command)
    if b"perational" in done.stderr or b"not permitted" in done.stderr or b"Cannot assign" in done.stderr:
        pytest.skip(done.stderr.decode()[:100])
    read = judge(done.stdout, slug, metrics, parameters)
    assert set(read) == metrics
    assert read.get("loss", 0) == 0
    assert read.get("hops", 1) == 1


@pytest.mark.parametrize(("command", "slug", "metrics", "parameters"), cases(SERVED))
def test_what_a_program_prints_of_its_server(command, slug, metrics, parameters):
    for _attempt in range(5):
        start = time.monotonic()
        done = run_with_server(command)
        # A data port of the program's own may be taken for a moment by another test, and a full machine may let iperf
        # send for longer than it was asked to: it prints how long it really did.
        is_held_up = command.startswith("iperf ") and time.monotonic() - start > LONGEST
        if done.returncode == 0 and not is_refused(done) and not is_held_up:
            break
    judge(done.stdout, slug, metrics, parameters)


def run_with_server(command):
    """Run a client once its server, which serves one only, takes it."""
    port = str(free_port())
    server = subprocess.Popen(
        [*SERVERS[command.split()[0]], port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _attempt in range(50):
            done = run(command, port)
            if not is_refused(done) or server.poll() is not None:
                break
            time.sleep(0.1)
        return done
    finally:
        server.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)


def is_refused(done):
    return any(word in done.stdout + done.stderr for word in (b"refused", b"are you sure"))
