"""GridFTP: the servers, clients and files of its plans, and options that are refused."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError

TOOL, THIRD = tools.get("gridftp"), tools.get("gridftp-third-party")
MB = 2**20
NODES = {
    "source": [NodeRef("a1", "10.9.1.2", "/mnt/a"), NodeRef("a2", "10.9.1.3", "/mnt/a")],
    "destination": [NodeRef("b1", "10.9.2.2", "/mnt/b"), NodeRef("b2", "10.9.2.3", "/mnt/b")],
    "client": [NodeRef("c", "10.9.3.2")],
}
NO_DISK = {"source": [NodeRef("a", "10.0.0.1")], "destination": [NodeRef("b", "10.0.0.2")]}


def plan(tool=TOOL, nodes=NODES, **params):
    return tool.plan(tool.clean(params), nodes)


def commands(run_plan, stage):
    return [command for item in run_plan.stages if item.name == stage for command in item.commands]


def client(run_plan):
    (command,) = commands(run_plan, "measure")
    return command


def test_third_party_has_a_server_on_each_end_and_its_client_on_the_source():
    run_plan = plan(size="1 GiB", streams=4, window="1 MiB")
    assert [stage.name for stage in run_plan.stages] == ["serve", "measure"]
    servers = commands(run_plan, "serve")
    assert [(server.role, server.node_index) for server in servers] == [("source", 0), ("destination", 0)]
    for server, address in zip(servers, ("10.9.1.2", "10.9.2.2"), strict=True):
        assert server.background
        assert server.collect == ("transfers.log",)
        assert ("GLOBUS_HOSTNAME", address) in server.environment
        assert server.argv[server.argv.index("-control-interface") + 1] == address
    assert client(run_plan).role == "source"
    assert client(run_plan).argv == (
        *("globus-url-copy", "-vb", "-p", "4", "-tcp-bs", "1048576", "-off", "0", "-len", "1073741824"),
        "ftp://10.9.1.2:2811/dev/zero",
        "ftp://10.9.2.2:2811/dev/null",
    )


def test_servers_let_nobody_at_anything_but_the_runs_own_files():
    run_plan = plan(read_from="file", write_to="file", files=2)
    configs = [dict(server.files)["gridftp.conf"] for server in commands(run_plan, "serve")]
    assert 'restrict_paths "R/mnt/a/.fathom-gridftp-0-source-0,R/mnt/a/.fathom-gridftp-0-source-1"' in configs[0]
    assert 'restrict_paths "RW/mnt/b/.fathom-gridftp-0-destination-0,' in configs[1]
    assert 'restrict_paths "R/dev/zero"' in dict(commands(plan(), "serve")[0].files)["gridftp.conf"]


def callers(**changed):
    config = dict(commands(plan(nodes=NODES | changed, data_nodes=2), "serve")[0].files)["gridftp.conf"]
    return [line for line in config.splitlines() if "allow_from" in line]


def test_servers_listen_to_nobody_but_the_nodes_of_the_run():
    """An FTP server sends to whatever address who commands it names."""
    facts = {
        "interfaces": [{"name": "lo", "addresses": ["127.0.0.1/8"]}, {"addresses": ["10.8.0.7/24"]}, {"name": 1}]
    }
    own = "10.9.1.2,10.9.1.3,10.9.2.2,10.9.2.3,10.8.0.7"
    source = [dataclasses.replace(NODES["source"][0], facts=facts), NODES["source"][1]]
    assert callers(source=source) == [f"allow_from {own}", f"ipc_allow_from {own}"]
    # What a name stands for is not for the server to say.
    assert callers(source=[NodeRef("a", "a.example.org")]) == []


@pytest.mark.parametrize(
    ("mode", "role", "server", "urls"),
    [
        ("push", "source", "destination", ("file:///dev/zero", "ftp://10.9.2.2:2811/dev/null")),
        ("pull", "destination", "source", ("ftp://10.9.1.2:2811/dev/zero", "file:///dev/null")),
    ],
)
def test_two_party_has_one_server(mode, role, server, urls):
    run_plan = plan(mode=mode)
    assert [command.role for command in commands(run_plan, "serve")] == [server]
    assert client(run_plan).role == role
    assert client(run_plan).argv[-2:] == urls


def test_the_client_of_a_third_party_has_a_node_of_its_own():
    run_plan = plan(THIRD)
    assert client(run_plan).role == "client"
    assert client(run_plan).environment == (("GLOBUS_HOSTNAME", "10.9.3.2"),)


def test_files_are_written_first_and_removed_last():
    run_plan = plan(
        read_from="file", write_to="file", size="8M", offset="1M", files=3, concurrency=2, pipelining=True
    )
    assert [stage.name for stage in run_plan.stages] == ["check", "prepare", "serve", "measure", "clean"]
    (prepare,) = commands(run_plan, "prepare")
    assert prepare.argv[:3] == ("globus-url-copy", "-len", str(9 * MB))
    assert prepare.files[0][1].count("file:///dev/urandom file:///mnt/a/.fathom-gridftp-0-source-") == 3
    assert client(run_plan).argv[-2:] == ("-f", "{work}/pairs.txt")
    assert {"-cc", "2", "-pp", "-off", str(MB), "-len", str(8 * MB)} <= set(client(run_plan).argv)
    removed = [word for command in commands(run_plan, "clean") for word in command.argv if word.startswith("/")]
    assert len(removed) == 6
    assert all("/.fathom-gridftp-0-" in path for path in removed)
    assert [command.role for command in commands(run_plan, "check")] == ["source", "destination"]


def test_a_striped_transfer_has_data_nodes_behind_each_front_end():
    run_plan = plan(data_nodes=0, stripe_block=0, port=3000)
    data = commands(run_plan, "serve-data")
    assert [(command.role, command.node_index) for command in data] == [
        *(("source", 0), ("source", 1), ("destination", 0), ("destination", 1))
    ]
    assert all("-dn" in command.argv and "3001" in command.argv for command in data)
    front = commands(run_plan, "serve")[1].argv
    assert front[front.index("-r") + 1] == "10.9.2.2:3001,10.9.2.3:3001"
    argv = client(run_plan).argv
    assert argv[argv.index("-stripe") :][:3] == ("-stripe", "-sbs", "0")


def test_options_reach_the_programs():
    run_plan = plan(
        retries=5, retry_interval=2, duration=30, verify=False, data_ports="50000,51000", block_size="1 MiB"
    )
    argv = client(run_plan).argv
    assert argv[argv.index("-rst") :][:5] == ("-rst", "-rst-retries", "5", "-rst-interval", "2")
    assert argv[argv.index("-t") + 1] == "30"
    server = commands(run_plan, "serve")[0].argv
    assert server[server.index("-port-range") + 1] == "50000,51000"
    assert server[server.index("-bs") + 1] == "1048576"


def test_ipv6_addresses_stand_in_brackets():
    nodes = {"source": [NodeRef("a", "2001:db8::1")], "destination": [NodeRef("b", "2001:db8::2")]}
    argv = client(plan(nodes=nodes)).argv
    assert argv[-2] == "ftp://[2001:db8::1]:2811/dev/zero"
    assert "-ipv6" in argv


@pytest.mark.parametrize(
    ("nodes", "params", "field"),
    [
        ({"source": [NodeRef("a", "fe80::1%eth0")], "destination": [NodeRef("b", "fe80::2%eth0")]}, {}, "source"),
        ({"source": [NodeRef("a", "2001:db8::1")], "destination": [NodeRef("b", "192.0.2.1")]}, {}, "client"),
        (NO_DISK, {"write_to": "file"}, "file_system"),
        (NODES, {"mode": "push", "data_nodes": 2}, "data_nodes"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(nodes, params, field):
    with pytest.raises(ParameterError) as caught:
        plan(nodes=nodes, **params)
    assert set(caught.value.errors) == {field}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"concurrency": 2}, "concurrency"),
        ({"pipelining": True}, "pipelining"),
        ({"duration": 5, "files": 2}, "duration"),
        ({"duration": 0.5}, "duration"),
        ({"offset": 1}, "offset"),
        ({"verify": True}, "verify"),
        ({"data_ports": "50000"}, "data_ports"),
        ({"data_ports": "51000,50000"}, "data_ports"),
        ({"folder": "../etc"}, "folder"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(params, field):
    with pytest.raises(ParameterError) as caught:
        TOOL.clean(params)
    assert set(caught.value.errors) == {field}


def test_more_data_nodes_than_nodes_are_refused():
    params = TOOL.clean({"data_nodes": 3})
    assert set(TOOL.check_cast(params, {"source": 3, "destination": 2})) == {"data_nodes"}
    assert TOOL.check_cast(params, {"source": 3, "destination": 3}) == {}
    assert TOOL.check_cast(TOOL.clean({}), {"source": 1, "destination": 1}) == {}


def test_an_estimate_counts_all_files_and_the_time_to_write_them():
    memory = TOOL.estimate(TOOL.clean({"size": "125 MB", "files": 8, "streams": 4, "concurrency": 2}), 1e9)
    assert memory.bytes_sent == {("source", "destination"): 10**9}
    assert memory.duration_s == pytest.approx(8 + 2)
    assert memory.streams == 8
    disk = TOOL.estimate(TOOL.clean({"size": "900 MB", "read_from": "file"}), 1e9)
    assert disk.duration_s == pytest.approx(7.2 + 3 + 2)
