"""The exact commands of each tool, and what they cost."""

import shlex

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, ParameterError

NODES = {"server": [NodeRef("south", "127.0.1.2")], "client": [NodeRef("north", "127.0.1.1")]}
SERVER = ["iperf3", "-s", "-1", "-B", "127.0.1.2", "-p", "5201", "--forceflush"]
CLIENT = shlex.split("iperf3 -c 127.0.1.2 -B 127.0.1.1 -p 5201 -J --connect-timeout 5000 -t 10 -i 1 -O 1")


def make_plan(slug, nodes=NODES, **params):
    tool = tools.get(slug)
    return tool.plan(tool.clean(params), nodes)


def argv_of(slug, nodes=NODES, **params):
    command = make_plan(slug, nodes, **params).stages[-1].commands[0]
    assert command.role == "client"
    assert command.measures
    return list(command.argv)


def test_iperf3_serves_one_test_and_waits_until_it_listens():
    plan = make_plan("iperf3-tcp", duration=10, omit=2, streams=4)
    assert [stage.name for stage in plan.stages] == ["serve", "measure"]
    serve = plan.stages[0].commands[0]
    assert list(serve.argv) == SERVER
    assert serve.role == "server"
    assert serve.background
    assert serve.ready_pattern == r"Server listening on \d+"
    assert not serve.measures
    send = plan.stages[1].commands[0]
    assert send.time_limit_s == 10 + 2 + 15 + 4 * 0.5
    assert serve.time_limit_s > send.time_limit_s


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, []),
        ({"window": "64K"}, ["-w", "65536"]),
        ({"window": 0}, []),
        ({"streams": 4}, ["-P", "4"]),
        ({"mss": 1400}, ["-M", "1400"]),
        ({"congestion": "bbr"}, ["-C", "bbr"]),
        ({"direction": "reverse"}, ["-R"]),
        ({"direction": "both"}, ["--bidir"]),
        (
            {"streams": 2, "direction": "both", "window": "1M", "mss": 8948, "congestion": "cubic"},
            ["-P", "2", "--bidir", "-w", "1048576", "-M", "8948", "-C", "cubic"],
        ),
    ],
)
def test_iperf3_tcp_takes_its_options(params, options):
    assert argv_of("iperf3-tcp", **params) == CLIENT + options


def test_iperf3_leaves_out_an_omit_of_zero_and_takes_ports_and_intervals():
    argv = argv_of("iperf3-tcp", omit=0, port=6000, interval="100 ms", duration="1 min")
    assert argv == shlex.split("iperf3 -c 127.0.1.2 -B 127.0.1.1 -p 6000 -J --connect-timeout 5000 -t 60 -i 0.1")


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, "-u -b 100000000 -l 1448"),
        ({"rate": "10M", "streams": 4, "length": 8000}, "-P 4 -u -b 2500000 -l 8000"),
        ({"rate": "10M", "streams": 3}, "-P 3 -u -b 3333333 -l 1448"),
        ({"rate": "1G", "window": "4M", "direction": "reverse"}, "-R -u -b 1000000000 -l 1448 -w 4194304"),
    ],
)
def test_iperf3_udp_shares_the_load_among_the_streams(params, options):
    assert argv_of("iperf3-udp", **params) == CLIENT + options.split()


def test_ping_sends_from_the_nodes_own_address():
    assert argv_of("ping", count=5, interval="200 ms") == (
        shlex.split("ping -n -c 5 -i 0.2 -s 56 -W 2 -I 127.0.1.1 127.0.1.2")
    )
    assert argv_of("ping", payload=8972, dont_fragment="yes", timeout="500 ms") == (
        shlex.split("ping -n -c 20 -i 0.2 -s 8972 -W 0.5 -I 127.0.1.1 -M do 127.0.1.2")
    )
    assert make_plan("ping", count=100, interval=1).stages[0].commands[0].time_limit_s == 100 + 2 + 10


def test_tracepath_takes_its_options():
    assert argv_of("tracepath") == ["tracepath", "-n", "-m", "30", "127.0.1.2"]
    assert argv_of("tracepath", max_hops=5, length=9000) == (
        ["tracepath", "-n", "-m", "5", "-l", "9000", "127.0.1.2"]
    )


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, "-m 30 -q 3 -w 2"),
        ({"discover_mtu": True, "max_hops": 8, "queries": 1}, "-m 8 -q 1 -w 2 --mtu"),
        ({"method": "icmp", "wait": "500 ms"}, "-m 30 -q 3 -w 0.5 -I"),
        ({"method": "tcp", "port": 22}, "-m 30 -q 3 -w 2 -T -p 22"),
    ],
)
def test_traceroute_takes_its_options(params, options):
    assert argv_of("traceroute", **params) == (["traceroute", "-n", *options.split(), "-s", "127.0.1.1", "127.0.1.2"])


def test_traceroute_finds_the_mtu_with_udp_only():
    with pytest.raises(ParameterError) as caught:
        tools.get("traceroute").clean({"discover_mtu": True, "method": "icmp"})
    assert set(caught.value.errors) == {"discover_mtu"}


BETWEEN_NODES = [tool.slug for tool in tools.all_tools() if tool.group == "network"]
IPV4_ONLY = [slug for slug in BETWEEN_NODES if slug in ("bing", "pathload", "pathrate", "pchar", "sockperf")]
SPEAKING_IPV6 = [slug for slug in BETWEEN_NODES if slug not in IPV4_ONLY]


# Their servers listen on all addresses: they have no option for one.
LISTENING_ON_ALL = ("nuttcp", "qperf")


def addresses_of(slug, argv):
    """Return the words of an argv, those of irtt without the brackets and the port that Go wants of an address."""
    return [word.removesuffix(":2112").strip("[]") for word in argv] if slug == "irtt" else list(argv)


@pytest.mark.parametrize("slug", SPEAKING_IPV6)
def test_ipv6_addresses_stay_as_they_are(slug):
    nodes = {"server": [NodeRef("south", "2001:db8::2")], "client": [NodeRef("north", "2001:db8::1")]}
    argv = addresses_of(slug, [word for word in argv_of(slug, nodes) if not word.startswith("--local=")])
    assert "2001:db8::2" in argv
    assert not any("[" in word for word in argv)


@pytest.mark.parametrize("slug", IPV4_ONLY)
def test_a_program_that_speaks_ipv4_only_says_so_before_anything_runs(slug):
    nodes = {"server": [NodeRef("south", "2001:db8::2")], "client": [NodeRef("north", "2001:db8::1")]}
    with pytest.raises(ParameterError) as caught:
        make_plan(slug, nodes)
    assert "IPv4" in str(caught.value.errors["client"])


@pytest.mark.parametrize("slug", SPEAKING_IPV6)
def test_a_link_local_target_has_the_clients_own_interface_as_its_scope(slug):
    nodes = {"server": [NodeRef("south", "fe80::2%eth7")], "client": [NodeRef("north", "fe80::1%enp3s0")]}
    plan = make_plan(slug, nodes)
    argv = addresses_of(slug, plan.stages[-1].commands[0].argv)
    assert "fe80::2%enp3s0" in argv
    assert "fe80::2%eth7" not in argv
    if len(plan.stages) > 1 and slug not in LISTENING_ON_ALL:
        assert "fe80::2%eth7" in addresses_of(slug, plan.stages[0].commands[0].argv)


@pytest.mark.parametrize("slug", BETWEEN_NODES)
def test_two_ip_versions_are_refused_before_anything_runs(slug):
    nodes = {"server": [NodeRef("south", "2001:db8::2")], "client": [NodeRef("north", "192.0.2.1")]}
    with pytest.raises(ParameterError) as caught:
        make_plan(slug, nodes)
    assert "2001:db8::2" in str(caught.value.errors["client"])


@pytest.mark.parametrize("slug", BETWEEN_NODES)
def test_names_are_left_to_the_resolver(slug):
    nodes = {"server": [NodeRef("south", "south.example")], "client": [NodeRef("north", "192.0.2.1")]}
    assert "south.example" in addresses_of(slug, argv_of(slug, nodes))


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("forward", {("client", "server"): 1_500_000_000}),
        ("reverse", {("server", "client"): 1_500_000_000}),
        ("both", {("client", "server"): 1_500_000_000, ("server", "client"): 1_500_000_000}),
    ],
)
def test_tcp_may_fill_the_path_for_the_whole_time(direction, expected):
    tool = tools.get("iperf3-tcp")
    estimate = tool.estimate(tool.clean({"duration": 10, "omit": 2, "direction": direction}), 1e9)
    assert estimate.bytes_sent == expected
    assert estimate.duration_s == 12.5


def test_tcp_on_a_path_of_unknown_capacity_has_no_estimate_of_bytes():
    tool = tools.get("iperf3-tcp")
    assert tool.estimate(tool.clean({})).bytes_sent == {}


def test_udp_sends_its_load_whatever_the_path_carries():
    tool = tools.get("iperf3-udp")
    estimate = tool.estimate(tool.clean({"rate": "80M", "duration": 10, "omit": 0}), 1e6)
    assert estimate.bytes_sent == {("client", "server"): 100_000_000}


def test_probes_cost_little():
    for slug in ("ping", "tracepath", "traceroute"):
        tool = tools.get(slug)
        estimate = tool.estimate(tool.clean({}))
        assert 0 < estimate.duration_s < 10
        assert 0 < sum(estimate.bytes_sent.values()) < 1_000_000
