"""GridFTP: readings of recorded transfers and logs, and why there may be none."""

import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench import tools
from apps.bench.toolkit import Output, ToolFailure
from apps.bench.tools._gridftp import logs
from tests.bench.tools import recordings

TOOL, THIRD = tools.get("gridftp"), tools.get("gridftp-third-party")
MB = 2**20
SERVER_LOG = (recordings.DATA / "gridftp" / "logs" / "server.log").read_bytes()


def read(name, **params):
    output = recordings.load("gridftp-third-party", name)
    return THIRD.parse([output], THIRD.clean(THIRD.recover(output) | params))


def fail(outputs, tool=THIRD, **params):
    with pytest.raises(ToolFailure) as caught:
        tool.parse(outputs, tool.clean(params))
    return caught.value


@pytest.mark.parametrize(
    ("name", "streams", "window", "mb_per_s"),
    [
        ("p1_tcpbs64k.bin", 1, 65536, 16.34),
        ("p2_tcpbs64k.bin", 2, 65536, 33.11),
        ("p4_tcpbs64k.bin", 4, 65536, 62.50),
        ("p8_tcpbs64k.bin", 8, 65536, 111.11),
        ("p16_tcpbs64k.bin", 16, 65536, 116.28),
        ("p1_default.bin", 1, 0, 116.28),
        ("p8_default.bin", 8, 0, 116.28),
        ("tcpbs1048576_p1.bin", 1, 1048576, 116.28),
        ("tcpbs4k_p4.bin", 4, 4096, 1.55),
        ("tcpbs8k_p4.bin", 4, 8192, 3.09),
        ("tcpbs32k_p4.bin", 4, 32768, 26.32),
        ("stripe_2dn.txt", 2, 65536, 33.11),
        ("memory_to_null_t.txt", 2, 0, 119.05),
        ("dbg.txt", 2, 1048576, 125.0),
    ],
)
def test_the_clients_mb_are_2_to_the_20(name, streams, window, mb_per_s):
    reading = read(name, streams=streams, window=window)
    assert reading.value("throughput_reported") == pytest.approx(mb_per_s * MB)
    assert reading.value("throughput") == pytest.approx(mb_per_s * MB)
    assert reading.value("transferred") in (52_428_800, 524_288_000)
    assert reading.observed["timed_by"] == "client"


def test_the_version_is_that_of_a_debugging_client():
    assert read("dbg.txt").tool_version == "10.12"
    assert read("p1_default.bin").tool_version == ""


def test_two_party_is_read_like_third_party():
    output = recordings.load("gridftp", "file_to_ftp_two_party.txt")
    params = TOOL.clean(TOOL.recover(output))
    assert params["mode"] == "push"
    assert TOOL.parse([output], params).value("throughput") == 100 * MB


def test_rates_over_time_are_those_of_each_report():
    series = {item.stream: item for item in read("p1_tcpbs64k.bin").series}
    assert series["average"].times == (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 30.6)
    assert series["instantaneous"].unit == "B/s"
    assert series["average"].values[0] == pytest.approx(16.35 * MB)


def test_a_striped_transfers_repeated_reports_count_once():
    reading = read("stripe_2dn.txt")
    assert [len(item.times) for item in reading.series] == [4, 4]
    assert list(reading.series[0].times) == sorted(set(reading.series[0].times))


def test_a_short_time_in_tenths_of_a_second_is_a_doubt():
    assert "coarse-time" in [flag.name for flag in read("vb_p4_raw.bin").flags]
    assert "coarse-time" not in [flag.name for flag in read("p1_tcpbs64k.bin").flags]


def server(log, stderr=b"", role="destination", stage="serve", node="b1"):
    return Output(role, stage, node, ("globus-gridftp-server",), b"", stderr, 143, collected={"transfers.log": log})


def log_line(contains):
    return next(line for line in SERVER_LOG.splitlines() if contains in line)


def measured(name, **times):
    return dataclasses.replace(recordings.load("gridftp-third-party", name, "client"), **times)


def test_the_servers_log_gives_the_exact_time_and_the_buffers():
    line = log_line(b"START=20261121080553.043777")
    outputs = [server(line), measured("p1_tcpbs64k.bin", started_at=100.0, ended_at=131.0)]
    reading = THIRD.parse(outputs, THIRD.clean({"size": 524_288_000, "window": 65536}))
    assert reading.value("transfer_time") == pytest.approx(30.579386, abs=1e-6)
    assert reading.value("throughput") == pytest.approx(524_288_000 / 30.579386)
    assert reading.value("setup_time") == pytest.approx(31 - 30.579386)
    assert reading.value("window_granted") == 131072
    assert reading.granted == {"receive_buffer": 131072, "block_size": 262144, "streams": 1, "data_nodes": 1}
    assert reading.value("retransmits") == 0
    assert [flag.name for flag in reading.flags] == []


def test_a_buffer_that_the_kernel_capped_and_missing_streams_are_doubts():
    outputs = [server(log_line(b"START=20261121080553.043777")), measured("p1_tcpbs64k.bin")]
    params = THIRD.clean({"size": 524_288_000, "window": "1 MiB", "streams": 4, "data_nodes": 2})
    names = [flag.name for flag in THIRD.parse(outputs, params).flags]
    assert names == ["window-capped", "fewer-streams", "not-striped"]


def striped(*, data_nodes=True):
    """Return the outputs of a transfer over two data nodes at each end, whose first one logs nothing."""
    parameters = {
        path.stem.removeprefix("striped_"): path.read_bytes()
        for path in (recordings.DATA / "gridftp" / "logs").glob("striped_*.log")
    }
    outputs = []
    for role, first, second in (("source", "kisti-1", "kisti-2"), ("destination", "pusan-1", "pusan-2")):
        if data_nodes:
            outputs.append(server(b"", role=role, stage="serve-data", node=first))
            outputs.append(server(parameters[f"data_{role}"], role=role, stage="serve-data", node=second))
        outputs.append(server(parameters[f"front_{role}"], role=role, node=first))
    params = THIRD.clean({"size": "256 MiB", "window": "1 MiB", "streams": 2, "data_nodes": 2})
    return THIRD.parse([*outputs, measured("stripe_2dn_window.bin")], params)


def test_the_buffers_of_a_striped_transfer_are_those_of_its_data_nodes():
    reading = striped()
    assert reading.value("throughput") == pytest.approx(268_435_456 / 2.408887, rel=1e-6)
    assert (reading.granted["send_buffer"], reading.granted["receive_buffer"]) == (2_097_152, 2_097_152)
    assert reading.flags == ()
    # A front end logs what was asked for, which tells nothing of what the kernel granted.
    alone = striped(data_nodes=False)
    assert alone.granted == {"block_size": 262_144, "streams": 2, "data_nodes": 2}
    assert "window_granted" not in [sample.metric for sample in alone.samples]


def test_the_data_node_that_logs_nothing_moved_what_the_others_did_not():
    reading = striped()
    assert reading.observed["data_node_shares"] == [
        {"node": "pusan-1", "transferred": 134_217_728},
        {"node": "pusan-2", "transferred": 134_217_728},
    ]
    assert reading.value("fairness") == pytest.approx(1.0)


def test_several_files_are_timed_from_the_first_to_the_last():
    lines = [line for line in SERVER_LOG.splitlines() if b"STREAMS=2" in line and b"NBYTES=52428800 " in line][-2:]
    reading = THIRD.parse(
        [server(b"\n".join(lines)), measured("p1_default.bin")], THIRD.clean({"size": 52_428_800, "files": 2})
    )
    first, last = logs.read_log(b"\n".join(lines).decode())
    assert reading.value("transferred") == 104_857_600
    assert reading.value("transfer_time") == pytest.approx(last.end - first.start)
    assert reading.value("file_rate") == pytest.approx(2 / (last.end - first.start))


def test_a_log_by_itself_gives_its_last_transfer():
    output = Output("source", "", "", (), SERVER_LOG, b"", None)
    assert TOOL.recognises(output)
    params = TOOL.clean(TOOL.recover(output))
    reading = TOOL.parse([output], params)
    assert params["size"] == 52_428_800
    assert reading.value("throughput") == pytest.approx(52_428_800 / (0.489326 - 0.056431), rel=1e-4)
    assert len(reading.observed["transfers"]) == 24
    assert "several-transfers" in [flag.name for flag in reading.flags]


def test_a_restart_counts_the_pause():
    text = b"[1] Sat Nov 21 19:13:07 2026 :: Child process 16627 killed by signal 15\n"
    outputs = [
        server(log_line(b"START=20261121080553.043777"), stderr=text),
        measured("p1_tcpbs64k.bin", started_at=0.0, ended_at=40.0),
    ]
    reading = THIRD.parse(outputs, THIRD.clean({"size": 524_288_000, "retries": 3}))
    assert reading.value("transfer_time") == 40
    assert [flag.name for flag in reading.flags] == ["restarted"]


@pytest.mark.parametrize(
    ("slug", "name", "code", "words"),
    [
        ("gridftp", "err_badopt.txt", "unknown-option", "-zz"),
        ("gridftp", "err_badurl.txt", "no-result", "could not read one of the URLs"),
        ("gridftp", "err_gsi.txt", "permission", "Server side credential failure"),
        ("gridftp-third-party", "err_diskfull.txt", "no-space", "No space left on device"),
        ("gridftp-third-party", "err_diskfull_p4.txt", "no-space", "No space left on device"),
        (
            "gridftp-third-party",
            "err_hostname_unresolvable.bin",
            "bad-host",
            "cannot resolve the name or the address",
        ),
        ("gridftp-third-party", "err_nofile.txt", "no-directory", "/opt/bench/gftp/a/nofile"),
        ("gridftp-third-party", "err_perm.txt", "permission", "Permission denied"),
        ("gridftp-third-party", "err_refused.txt", "refused", "10.9.1.2"),
        ("gridftp-third-party", "err_server_killed_mid.txt", "stopped", "end-of-file"),
    ],
)
def test_a_failure_has_its_reason(slug, name, code, words):
    tool = tools.get(slug)
    failure = fail([recordings.load(slug, name)], tool)
    assert failure.code == code
    assert words in str(failure.message)
    assert failure.remedy


def test_fewer_bytes_than_asked_for_are_no_result():
    failure = fail([recordings.load("gridftp-third-party", "p1_default.bin")], size="1 GB")
    assert failure.code == "stopped"
    assert "524288000 of 1000000000 bytes" in str(failure.message)
    assert fail([measured("p1_default.bin", timed_out=True)], size=524_288_000).code == "timed-out"


def test_a_transfer_that_nobody_tells_of_is_no_result():
    silent = dataclasses.replace(measured("p1_default.bin"), stdout=b"Source: ftp://a/\nDest:   ftp://b/\n  zero\n")
    assert "before its first report" in str(fail([silent]).message)
    two = dataclasses.replace(silent, stdout=silent.stdout * 2)
    assert "moved 2 files" in str(fail([two], files=2).message)


def test_a_server_that_did_not_start_is_the_reason():
    text = b"[1] x :: Could not start server:\nglobus_xio: System error in bind: Address already in use\n"
    failure = fail([server(b"", stderr=text)])
    assert failure.code == "port-busy"
    unnamed = (
        b"[1] x :: Could not start server:\nglobus_xio: globus_l_xio_tcp_contact_string failed.\n"
        b"globus_xio: globus_libc_addr_to_contact_string failed.\n"
        b"globus_common: Temporary failure in name resolution\n"
    )
    failure = fail([server(b"", stderr=unnamed)])
    assert failure.code == "bad-host"
    assert "hosts file" in str(failure.remedy)
    assert "printed nothing" in str(fail([server(b"")]).message)
    assert fail([server(b""), server(b"", role="source")]).code == "no-result"


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(0, len(SERVER_LOG)), place=st.integers(0, len(SERVER_LOG)), noise=st.binary(max_size=30))
def test_a_damaged_log_never_gives_anything_but_a_tool_failure(cut, place, noise):
    log = (SERVER_LOG[:place] + noise + SERVER_LOG[place:])[cut:]
    outputs = [server(log, stderr=noise), measured("p1_default.bin")]
    try:
        reading = THIRD.parse(outputs, THIRD.clean({"size": 1, "window": 1024}))
    except ToolFailure:
        return
    assert all(math.isfinite(sample.value) for sample in reading.samples)
    json.dumps(reading.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", [name for name in recordings.names("gridftp-third-party") if "err_b" not in name])
def test_each_recording_is_recognised_by_one_of_both_tools(name):
    output = recordings.load("gridftp-third-party", name)
    is_third = b"Source: ftp" in output.stdout
    assert THIRD.recognises(output) is is_third
    assert TOOL.recognises(output) is not is_third
