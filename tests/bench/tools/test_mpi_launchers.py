"""Each launcher's command, and the comparison of the map asked for with the one it reports."""

import pytest

from apps.bench import tools
from apps.bench.tools._mpi import launchers, maps, options, run
from tests.bench.tools.mpi_nodes import answered, command, node, pair_of_nodes, plan, topology
from workers.agent.policy import variables

NETWORK = {"interfaces": [{"name": "eth1", "addresses": ["10.0.0.1/24", "10.0.0.2/24", "fe80::1/64"]}]}
TABLE = b"\n# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1048576 %s\n"
SAME_NODE = {"min_size": "1 MiB", "placement": "same-socket"}


def read(output, launcher="openmpi", others=(), **params):
    tool = tools.get("osu-bandwidth")
    return tool.parse([*others, output], tool.clean({"min_size": "1 MiB", "launcher": launcher, **params}))


def flags(reading):
    return [(flag.name, flag.severity) for flag in reading.flags]


def test_every_launcher_on_the_list_can_be_chosen():
    assert [launcher.name for launcher in launchers.all_launchers()] == [name for name, _ in options.LAUNCHER.choices]


def test_two_launchers_of_one_name_are_refused():
    with pytest.raises(ValueError, match="openmpi"):
        launchers.register(type("Again", (launchers.OpenMpi,), {"__module__": __name__}))


def test_open_mpi_gets_a_hostfile_and_a_rankfile():
    job = command("osu-bandwidth", pair_of_nodes(), placement="other-node")
    assert job.argv[:6] == ("mpirun", "--hostfile", "{work}/hosts", "-np", "2", "--display-map")
    assert "--rankfile" in job.argv
    assert job.argv[-3:] == ("{program:osu_bw}", "-m", "1:1048576")
    files = dict(job.files)
    assert files["hosts"] == "10.0.0.1 slots=1\n10.0.0.2 slots=1\n"
    assert files["ranks"] == "rank 0=10.0.0.1 slot=0:0\nrank 1=10.0.0.2 slot=0:0\n"
    assert job.collect == ("placement.json",)
    assert (job.role, job.node_index) == ("node", 0)


def test_open_mpi_keeps_to_the_data_plane_and_starts_ranks_by_the_program_named():
    nodes = [node(name, topology=topology(), **NETWORK) for name in "ab"]
    argv = command("osu-bandwidth", nodes, placement="other-node", remote_agent="nsagent").argv
    words = " ".join(argv)
    assert "--mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24" in words
    assert "--mca plm_rsh_agent {program:nsagent}" in words


def test_ranks_of_one_node_need_neither_network_nor_remote_start():
    nodes = [node("a", topology=topology(), **NETWORK)]
    argv = command("osu-bandwidth", nodes, **SAME_NODE, remote_agent="nsagent").argv
    assert "btl_tcp_if_include" not in argv
    assert "{program:nsagent}" not in argv


@pytest.mark.parametrize("launcher", ["openmpi", "mpich", "intelmpi", "slurm"])
def test_messages_can_be_made_to_go_by_tcp_with_every_library(launcher):
    job = command("osu-bandwidth", pair_of_nodes(), launcher=launcher, transport="tcp")
    environment = dict(job.environment)
    assert (environment["OMPI_MCA_btl"], environment["UCX_TLS"], environment["FI_PROVIDER"]) == (
        "tcp,self",
        "tcp,self",
        "tcp",
    )
    # What the agent would refuse would never reach the library.
    for name, value in environment.items():
        variables.check_form(name, value, variables.kind_of(name, ()))
    assert command("osu-bandwidth", pair_of_nodes(), launcher=launcher).environment == ()


def test_tcp_keeps_to_the_data_plane_where_the_nodes_tell_it():
    other = {"interfaces": [{**NETWORK["interfaces"][0], "name": "ens2"}]}
    nodes = [node("a", topology=topology(), **NETWORK), node("b", topology=topology(), **other)]
    request = {"launcher": "mpich", "transport": "tcp"}
    environment = dict(command("osu-bandwidth", nodes, placement="other-node", **request).environment)
    assert environment["UCX_NET_DEVICES"] == "ens2,eth1"
    assert "UCX_NET_DEVICES" not in dict(command("osu-bandwidth", nodes, **SAME_NODE, **request).environment)
    silent = [nodes[0], node("b", topology=topology())]
    assert "UCX_NET_DEVICES" not in dict(
        command("osu-bandwidth", silent, placement="other-node", **request).environment
    )


def test_unbound_ranks_are_left_alone():
    argv = " ".join(command("osu-latency", pair_of_nodes(), benchmark="osu_allreduce", ranks=4).argv)
    assert "--map-by node --bind-to none" in argv
    assert "--rankfile" not in argv


def test_root_is_allowed_only_where_the_agent_runs_jobs_as_root():
    assert "--allow-run-as-root" not in command("osu-bandwidth", [node("a")]).argv
    assert "--allow-run-as-root" in command("osu-bandwidth", [node("a", agent={"job_user": "root"})]).argv


def test_mpich_binds_by_processors_and_looks_where_its_ranks_land():
    run_plan = plan("osu-bandwidth", pair_of_nodes(), launcher="mpich", **SAME_NODE)
    assert [stage.name for stage in run_plan.stages] == ["map", "measure"]
    look, measure = run_plan.stages[0].commands[0], run_plan.stages[1].commands[0]
    assert look.optional
    assert not look.measures
    assert look.argv[:2] == ("mpiexec.hydra", "-l")
    assert " ".join(measure.argv).startswith("mpiexec.hydra -f {work}/hosts -bind-to user:0,1 -n 2 {program:osu_bw}")
    assert dict(measure.files)["hosts"] == "10.0.0.1:2\n"


def test_hydra_deals_ranks_out_by_wrapping_its_hostfile():
    job = command(
        "osu-latency", pair_of_nodes(), launcher="mpich", benchmark="osu_allreduce", ranks=4, remote_agent="agent"
    )
    assert dict(job.files)["hosts"] == "10.0.0.1:1\n10.0.0.2:1\n"
    assert "-launcher ssh -launcher-exec {program:agent}" in " ".join(job.argv)


def test_intel_mpi_pins_and_reports_pins():
    argv = " ".join(command("osu-bandwidth", pair_of_nodes(), launcher="intelmpi", **SAME_NODE).argv)
    assert "-genv I_MPI_DEBUG 4 -genv I_MPI_PIN_PROCESSOR_LIST 0,1 -n 2" in argv


def test_intel_mpi_takes_how_many_ranks_a_host_gets_and_the_data_planes_interface():
    nodes = [node(name, topology=topology(), **NETWORK) for name in "ab"]
    argv = " ".join(command("osu-bandwidth", nodes, launcher="intelmpi", remote_agent="agent").argv)
    assert argv.startswith("mpiexec.hydra -machinefile {work}/hosts -launcher ssh -launcher-exec {program:agent} ")
    assert " -iface eth1 -genv FI_TCP_IFACE eth1 -genv I_MPI_DEBUG 4 -n 2 " in argv
    # One node needs no network; of names that differ none is right for all.
    assert "FI_TCP_IFACE" not in command("osu-bandwidth", nodes, launcher="intelmpi", **SAME_NODE).argv
    other = {"interfaces": [{**NETWORK["interfaces"][0], "name": "ib0"}]}
    mixed = [nodes[0], node("b", topology=topology(), **other)]
    assert "FI_TCP_IFACE" not in command("osu-bandwidth", mixed, launcher="intelmpi").argv


@pytest.mark.parametrize("name", ["/bin/sh", "ssh -x", "a b", "-x", "{work}"])
def test_the_remote_agent_is_the_name_of_a_program_and_nothing_else(name):
    cleaned = {"launcher": "openmpi", "remote_agent": name, "partition": "", "bundle": "", "distance": 0}
    assert set(options.check(cleaned)) == {"remote_agent"}


def test_the_number_of_nodes_is_a_factor():
    nodes = [node(name) for name in "abc"]
    assert len(run.nodes_of({"launcher": "openmpi", "clients": 2}, {"node": nodes})) == 2
    assert len(run.nodes_of({"launcher": "openmpi", "clients": 0}, {"node": nodes})) == 3
    assert len(run.nodes_of({"launcher": "slurm", "clients": 5}, {"node": nodes[:1]})) == 5
    assert options.check_cast({"launcher": "openmpi", "clients": 4}, {"node": 3}).keys() == {"clients"}
    assert options.check_cast({"launcher": "openmpi", "clients": 1}, {"node": 3}, minimum=2).keys() == {"clients"}
    assert options.check_cast({"launcher": "slurm", "clients": 4}, {"node": 1}) == {}


BOUND = b"[a:77] MCW rank 0 bound to socket 0[core 0[hwt 0]]: [B/././.][./././.]\n"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (b"[a:77] MCW rank 1 bound to socket 0[core 1[hwt 0]]: [./B/./.][./././.]\n", []),
        (
            b"[a:77] MCW rank 1 bound to socket 1[core 4[hwt 0]]: [./././.][B/././.]\n",
            [("placement-differs", "invalid")],
        ),
        (
            b"[b:77] MCW rank 1 bound to socket 0[core 1[hwt 0]]: [./B/./.][./././.]\n",
            [("placement-differs", "invalid")],
        ),
        (
            b"[a:77] MCW rank 1 is not bound (or bound to all available processors)\n",
            [("placement-differs", "invalid")],
        ),
        (b"", [("placement-unknown", "warning")]),
    ],
)
def test_another_map_than_the_one_asked_for_makes_the_result_invalid(second, expected):
    job = command("osu-bandwidth", pair_of_nodes(), **SAME_NODE)
    reading = read(answered(job, TABLE % b"9000.0", BOUND + second), placement="same-socket")
    assert flags(reading) == expected
    assert [place["core"] for place in reading.requested["map"]] == ["0:0", "0:1"]
    assert reading.observed["map"][0] == {"rank": 0, "host": "a", "cores": ["0:0"]}


def test_the_map_displayed_serves_where_no_binding_is_reported():
    job = command("osu-bandwidth", pair_of_nodes(), placement="other-node", min_size="1 MiB")
    shown = (
        b" Data for node: a\tNum slots: 1\tMax slots: 0\tNum procs: 1\n"
        b" \tProcess OMPI jobid: [1,1] App: 0 Process rank: 0 Bound: socket 0[core 0[hwt 0]]:[B/././.][./././.]\n"
        b" Data for node: b\tNum slots: 1\tMax slots: 0\tNum procs: 1\n"
        b" \tProcess OMPI jobid: [1,1] App: 0 Process rank: 1 Bound: socket 0[core 0[hwt 0]]:[B/././.][./././.]\n"
    )
    reading = read(answered(job, shown + TABLE % b"112.0"), placement="other-node")
    assert flags(reading) == []
    assert [place["host"] for place in reading.observed["map"]] == ["a", "b"]


def test_mpich_is_judged_by_what_its_look_found():
    run_plan = plan("osu-bandwidth", pair_of_nodes(), launcher="mpich", **SAME_NODE)
    look, measure = (stage.commands[0] for stage in run_plan.stages)
    for second, expected in ((b"1", []), (b"5", [("placement-differs", "invalid")])):
        text = b"[1] Cpus_allowed_list:\t%s\n[1] a\n[0] Cpus_allowed_list:\t0\n[0] a\n" % second
        answer = answered(look, text, stage="map")
        reading = read(answered(measure, TABLE % b"9000.0"), "mpich", [answer], placement="same-socket")
        assert flags(reading) == expected


def test_intel_mpi_is_judged_by_its_table_of_pins():
    job = command("osu-bandwidth", pair_of_nodes(), launcher="intelmpi", **SAME_NODE)
    pins = b"[0] MPI startup(): 0       12812    a         {0}\n[0] MPI startup(): 1       12813    a         {1}\n"
    assert flags(read(answered(job, pins + TABLE % b"9.0"), "intelmpi", placement="same-socket")) == []
    wrong = pins.replace(b"{1}", b"{0,1}")
    reading = read(answered(job, wrong + TABLE % b"9.0"), "intelmpi", placement="same-socket")
    assert flags(reading) == [("placement-differs", "invalid")]


def test_hardware_threads_of_one_core_are_one_place():
    job = command("osu-bandwidth", pair_of_nodes(threads=2), launcher="intelmpi", **SAME_NODE)
    pins = b"[0] MPI startup(): 0       1    a         {0,8}\n[0] MPI startup(): 1       2    a         {1,9}\n"
    assert flags(read(answered(job, pins + TABLE % b"9.0"), "intelmpi", placement="same-socket")) == []


def test_ranks_that_were_left_free_are_not_judged():
    job = command("osu-bandwidth", pair_of_nodes()[:1], min_size="1 MiB")
    reading = read(answered(job, TABLE % b"9000.0", b"[x:77] MCW rank 0 is not bound (or bound to all)\n"))
    assert flags(reading) == []


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"{}", b'{"nodes": [], "ranks": [{"node": 3, "core": ""}]}', b"\xff"]
)
def test_a_map_that_did_not_come_back_is_not_compared(text):
    job = command("osu-bandwidth", pair_of_nodes(), **SAME_NODE)
    output = answered(job, TABLE % b"9000.0", BOUND, collected={maps.ASKED: text})
    assert flags(read(output, placement="same-socket")) == []


def test_ranks_that_share_a_core_give_way_to_each_other():
    words = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
    job = command("osu-bandwidth", pair_of_nodes(), oversubscribe=True)
    start = job.argv.index(words[0])
    assert job.argv[start : start + 4] == words
    assert not {*words[:1], *words[2:3]} & set(command("osu-bandwidth", pair_of_nodes()).argv)
