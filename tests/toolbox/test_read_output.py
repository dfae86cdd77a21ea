"""The command that reads a raw output: JSON, or the reason with exit status 1, and no database."""

import io
import json
import os
import pathlib
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


def read(name, *options):
    out = io.StringIO()
    call_command("read_output", str(DATA / name), *options, stdout=out)
    return json.loads(out.getvalue())


def refused(name, *options):
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("read_output", str(DATA / name), *options, stdout=out)
    return str(caught.value), json.loads(out.getvalue()) if out.getvalue() else None


def test_it_prints_tool_parameters_samples_with_units_and_flags():
    found = read("iperf3-tcp/err_w_exceeds_rmem_max.txt")
    assert found["tool"] == "iperf3-tcp"
    assert found["tool_version"] == "3.12"
    assert found["parameters"]["window"] == 8 * 1024**2
    assert {"metric": "goodput", "label": "Goodput", "unit": "bit/s"}.items() <= found["samples"][0].items()
    assert [flag["name"] for flag in found["flags"]][:1] == ["window-capped"]
    assert "series" not in found
    assert read("iperf3-tcp/json_tcp.txt", "--series")["series"]


def test_a_failure_is_said_in_words():
    text, printed = refused("iperf3-tcp/err_busy.txt")
    assert text.startswith("iperf3-tcp: The port on this node is in use")
    assert "Stop the other server" in text
    assert printed is None


def test_several_outputs_are_told_one_by_one():
    text, printed = refused("logs/veth_tc.txt")
    assert [item["tool"] for item in printed["outputs"]] == ["ping"] * 3
    assert [("error" in item) for item in printed["outputs"]] == [False, False, True]
    assert any("ethtool" in command for command in printed["passed_over"])
    assert "1 of 3 outputs have no result" in text
    assert len(read("qperf/loop_msgsize.txt")["outputs"]) == 4


def test_other_forms_are_data():
    assert read("slurm/scontrol_ok.txt")["data"]["jobs"][0]["state"] == "completed"
    assert read("telemetry/ss_tmi_auto.txt")["data"]["sockets"][0]["state"] == "ESTAB"


def test_a_tool_can_be_named_and_a_teams_own_given():
    assert read("ping/ok.txt", "--tool", "ping")["tool"] == "ping"
    assert "iperf3-tcp:" in refused("ping/ok.txt", "--tool", "iperf3-tcp")[0]
    assert "no tool is called" in refused("ping/ok.txt", "--tool", "nosuch")[0]
    own = read("custom/dd.txt", "--definition", str(DATA / "custom" / "site-zero.yaml"))
    assert own["tool"] == "site-zero"
    assert own["samples"][1] == {"metric": "copied", "label": "Copied", "value": 65536 * 20000, "unit": "B"}
    assert "a second document begins" in refused("custom/dd.txt", "--definition", str(DATA / "custom" / "dd.txt"))[0]


def test_what_is_no_output_is_said(tmp_path):
    (tmp_path / "odd").write_text("hello\n")
    text = refused(tmp_path / "odd")[0]
    assert "It begins: hello" in text
    assert "Known are: " in text
    (tmp_path / "empty").write_text("\n")
    assert "is empty" in refused(tmp_path / "empty")[0]
    assert "No such file" in refused("nosuch/file")[0]


def test_it_needs_neither_a_database_nor_a_deployment():
    bare = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    command = [sys.executable, "manage.py", "read_output", "-"]
    raw = (DATA / "ping" / "ok.txt").read_bytes()
    done = subprocess.run(command, cwd=ROOT, env=bare, input=raw, capture_output=True, check=True)
    assert json.loads(done.stdout)["tool"] == "ping"
    failed = subprocess.run(command, cwd=ROOT, env=bare, input=b"x", capture_output=True, check=False)
    assert failed.returncode == 1
    assert failed.stdout == b""
    assert b"Traceback" not in failed.stderr
