"""A campaign's file: read, its names looked up, its end waited for; every refusal in words."""

import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from apps.bench import sweep, tools
from apps.bench.toolkit import NodeRef
from lab import campaign
from lab.__main__ import main
from lab.machine import LabError
from lab.spec import read_lab
from tests.lab.labs import ROOT

# What the line of the lab carries (bit/s).
LINE_BPS = 1e9
# What an agent tells of its node, as far as plans read it.
FACTS = {"hostname": "node", "topology": {"cpus": [[0, 0, 0, 0], [1, 0, 1, 0]]}}
FILES = sorted((ROOT / "lab" / "campaigns").glob("*.yaml"))
CONTENT = {
    "name": "Reads",
    "experiments": [
        {
            "name": "Disk",
            "tool": "fio",
            "file_system": "raid",
            "roles": {"client": ["one", "both"]},
            "fixed": {"direct": True},
            "factors": {"depth": "1, 4"},
        }
    ],
}


@pytest.fixture
def service() -> Iterator[tuple[campaign.Service, list[tuple[str, str, Any]]]]:
    """Give a service that answers as the real one does, and the list of what it was asked."""
    asked: list[tuple[str, str, Any]] = []
    state = {"id": 7, "state": "finished", "progress": {"measured": 2, "failed": 1, "not_measured": 0, "total": 3}}
    group = {"x": 4, "others": {"clients": 2}, "mean": 1.5e6, "n": 3}
    lists = {
        "nodes/": [{"name": "one", "id": 1}],
        "clusters/": [{"name": "both", "id": 2}],
        "file-systems/": [{"name": "raid", "id": 3}],
        "experiments/": [{"id": 5, "name": "Disk", "tool": "fio"}],
        "trials/": [{"id": 9, "reason": {"message": "No room."}}],
    }
    single = {
        "campaigns/7/": state,
        "experiments/5/results/": {
            "metric": "rate", "unit": "B/s", "x": "depth", "groups": [group], "left_out": 1,
        },
    }  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, content: object) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_GET(self) -> None:
            path = self.path.removeprefix("/api/v1/").partition("?")[0]
            assert self.headers["Authorization"] == "Bearer secret"
            asked.append(("GET", self.path.removeprefix("/api/v1/"), None))
            self.answer(200, single[path] if path in single else {"results": lists[path], "next": None})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "null")
            asked.append(("POST", self.path.removeprefix("/api/v1/"), body))
            if body and body.get("name") == "refused":
                self.answer(400, {"detail": "Choose another name."})
            else:
                self.answer(201, state)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield campaign.Service(f"http://127.0.0.1:{server.server_port}", "secret"), asked
        server.shutdown()


def test_names_become_ids_and_the_figures_are_said(service: tuple[campaign.Service, list]) -> None:
    client, asked = service
    said: list[str] = []
    assert campaign.run(client, CONTENT, said.append) is False
    (experiment,) = [body for method, path, body in asked if path == "experiments/" and method == "POST"]
    assert experiment["roles"] == [{"role": "client", "node": 1}, {"role": "client", "cluster": 2}]
    assert experiment["file_system"] == 3
    assert experiment["fixed"] == {"direct": "True"}
    assert experiment["factors"] == [{"name": "depth", "expression": "1, 4"}]
    assert ("POST", "campaigns/7/launch/", None) in asked
    assert said[1:] == [
        "  of 3 trials: 2 measured, 1 failed",
        "  Disk (fio): rate in B/s by depth",
        "    4, clients 2: 1.5e+06 (n = 3)",
        "    1 invalid measurements are left out",
        "    trial 9 failed: No room.",
    ]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("roles", {"client": "nobody"}, "no node or cluster called nobody; it knows both"),
        ("file_system", "tape", "no file system called tape; it knows raid"),
    ],
)
def test_a_name_that_the_service_does_not_know_is_told(
    service: tuple[campaign.Service, list], field: str, value: object, message: str
) -> None:
    content = {**CONTENT, "experiments": [{**CONTENT["experiments"][0], field: value}]}
    with pytest.raises(LabError, match=message + r"\.$"):
        campaign.run(service[0], content, print)
    with pytest.raises(LabError, match=r"written for lab/mpi\.yaml"):
        campaign.run(service[0], {**content, "lab": "mpi"}, print)
    # Nothing was made of half of it.
    assert not [path for method, path, _body in service[1] if method == "POST"]


def test_a_refusal_is_told_in_the_services_words(service: tuple[campaign.Service, list]) -> None:
    with pytest.raises(LabError, match=r"POST campaigns/: 400 .*Choose another name"):
        campaign.run(service[0], {**CONTENT, "name": "refused"}, print)


def test_a_service_that_does_not_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LabError, match="No service with a demo account runs on"):
        campaign.find_service(tmp_path)
    file = FILES[0]
    assert main(["campaign", str(file), "--url", "http://127.0.0.1:9", "--token", "x"]) == 1
    assert "GET nodes/" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "- a", "name: x", "name: ["])
def test_a_file_that_is_no_campaign_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "campaign.yaml"
    file.write_text(text)
    with pytest.raises(LabError, match=r"campaign\.yaml"):
        campaign.read_campaign(file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_campaign_of_the_lab_names_tools_parameters_nodes_and_file_systems_that_there_are(file: Path) -> None:
    content = campaign.read_campaign(file)
    lab = read_lab(ROOT / "lab" / f"{content.get('lab', 'storage')}.yaml")
    for experiment in content["experiments"]:
        tool = tools.get(experiment["tool"])
        given = {*experiment.get("fixed", {}), *experiment["factors"]}
        assert given <= {parameter.name for parameter in tool.parameters}
        for names in experiment["roles"].values():
            known = {node.name for node in lab.nodes}
            assert set(names if isinstance(names, list) else [names]) <= known
        if "file_system" in experiment:
            (found,) = [item for item in lab.file_systems if item.name == experiment["file_system"]]
            clients = experiment["roles"]["client"]
            assert set(clients if isinstance(clients, list) else [clients]) <= {node.name for node in found.clients}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_campaign_of_the_lab_is_planned(file: Path) -> None:
    content = campaign.read_campaign(file)
    for experiment in content["experiments"]:
        tool = tools.get(experiment["tool"])
        parameters = {parameter.name: parameter for parameter in tool.parameters}
        spec = sweep.make_spec(
            fixed={name: str(value) for name, value in experiment.get("fixed", {}).items()},
            factors=[sweep.Factor(name, str(text)) for name, text in experiment["factors"].items()],
            repetitions=experiment["repetitions"],
        )
        cast = {
            role: [NodeRef(name, f"192.0.2.{place}", "/mnt/x", FACTS) for place, name in enumerate(_listed(names), 1)]
            for role, names in experiment["roles"].items()
        }
        assert cast.keys() == {role.name for role in tool.roles}
        for point in sweep.expand_points(spec, parameters):
            params = tool.clean(point)
            assert tool.check(params) == {}, experiment["name"]
            assert tool.check_cast(params, {role: len(nodes) for role, nodes in cast.items()}) == {}
            assert tool.plan(params, cast).stages
            # The owner of a line lets no more datagrams onto it than it carries.
            assert tool.estimate(params, LINE_BPS).offered_bps <= LINE_BPS, experiment["name"]


def test_the_gfs_campaign_measures_every_layer_three_times() -> None:
    content = campaign.read_campaign(ROOT / "lab" / "campaigns" / "gfs.yaml")
    experiments = content["experiments"]
    assert {item["tool"] for item in experiments} == {
        "ping", "iperf3-tcp", "iperf3-udp", "iozone", "gridftp-third-party",
    }  # fmt: skip
    assert {item.get("file_system") for item in experiments} == {None, "raid1", "kisti-nfs", "wan-gluster"}
    assert {item["repetitions"] for item in experiments} == {3}
    points = [math.prod(len(str(text).split(",")) for text in item["factors"].values()) for item in experiments]
    assert 3 * sum(points) == 81


def _listed(names: str | list[str]) -> list[str]:
    return names if isinstance(names, list) else [names]
