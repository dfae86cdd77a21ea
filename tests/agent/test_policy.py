"""What the agent's rules allow and refuse, word by word, and what its owner can add to them."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.testbeds.models import Node, NodeAddress
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended
from tests.agents import factories
from workers.agent import config
from workers.agent.policy import Guard, Reach
from workers.agent.refusals import CannotStart

LOCAL = Reach((), frozenset(), is_local=True)


def guard_of(work: Path, reach: Reach = LOCAL, **more: Any) -> Guard:
    """Return the guard of a job on a node where every program lies in /usr/bin."""
    return Guard(
        work=str(work),
        paths=more.get("paths", ()),
        options=more.get("options", {}),
        variables=more.get("variables", ()),
        wrappers=more.get("wrappers", {}),
        shells=more.get("shells", ()),
        reach=reach,
        fill=lambda text: text.replace("{work}", str(work)),
        find_program=more.get("find_program", lambda name: f"/usr/bin/{name}"),
        files=more.get("files", {}),
    )


def refusal_of(work: Path, line: str, reach: Reach = LOCAL, **more: Any) -> str:
    """Return "fault: what" of a command, "" for one that is allowed."""
    guard = guard_of(work, reach, **more)
    try:
        guard.check(line.split(), more.get("environment", ()))
    except CannotStart as refusal:
        return f"{refusal.fault}: {refusal}"
    return ""


@pytest.mark.parametrize(
    ("entry", "line", "refusal"),
    [
        ("", "mtr -F {work}/hosts -r", "option-not-allowed: mtr -F"),
        ("-F file", "mtr -F {work}/hosts -r", ""),
        ("-F file", "mtr -rF{work}/hosts", ""),
        ("-F file", "mtr -F /etc/passwd -r", "path-not-allowed: mtr /etc/passwd"),
        ("-F file", "mtr --filename={work}/hosts", "option-not-allowed: mtr --filename"),
        ("-F text", "mtr -F /etc/passwd -r", "option-not-allowed: mtr -F /etc/passwd"),
        ("*", "mtr -F /etc/passwd 192.0.2.1", ""),
    ],
)
def test_the_owner_adds_options(tmp_path: Path, entry: str, line: str, refusal: str) -> None:
    assert refusal_of(tmp_path, line, options={"mtr": [entry] if entry else []}) == refusal


def test_files_lie_below_the_work_folder_or_the_owners_paths_after_links(tmp_path: Path) -> None:
    work, scratch, other = tmp_path / "work", tmp_path / "scratch", tmp_path / "scratch-of-others"
    for folder in (work, scratch, other):
        folder.mkdir()
    (work / "way-out").symlink_to(other)
    (scratch / "way-out").symlink_to(other)
    for path in ("{work}/x", f"{scratch}/deep/x", str(scratch), "x", "/dev/null"):
        assert refusal_of(work, f"iozone -f {path}", paths=[str(scratch)]) == "", path
    for path in ("{work}/way-out/x", f"{scratch}/way-out", f"{scratch}/../x", "../x", str(other), "/", "/dev/sda"):
        assert refusal_of(work, f"iozone -f {path}", paths=[str(scratch)]).startswith("path-not-allowed"), path


@pytest.mark.parametrize(
    ("target", "reach", "is_allowed"),
    [
        ("10.0.0.1", Reach((), frozenset({"10.0.0.1"})), True),
        ("10.0.0.2", Reach((), frozenset({"10.0.0.1"})), False),
        ("fd00::0:1", Reach((), frozenset({"fd00::1"})), True),
        ("fe80::1%eth0", Reach((), frozenset({"fe80::1"})), True),
        ("dtn.example.org", Reach((), frozenset({"dtn.example.org"}), resolve=lambda _name: ["192.0.2.1"]), True),
        ("www.example.org", Reach((), frozenset({"dtn.example.org"})), False),
        ("127.0.0.1", Reach((), frozenset({"127.0.0.1"})), False),
        ("::1", Reach((), frozenset({"::1"})), False),
        ("::ffff:127.0.0.1", Reach((), frozenset({"::ffff:127.0.0.1"})), False),
        ("localhost", Reach((), frozenset()), False),
        ("127.0.1.2", LOCAL, True),
        ("169.254.169.254", Reach((), frozenset({"169.254.169.254"})), False),
        ("0.0.0.0", Reach((), frozenset({"0.0.0.0"})), False),
        ("2130706433", Reach((), frozenset()), False),
        ("10.0.0.1", Reach(("10.0.0.0/8",), frozenset()), True),
        ("192.0.2.1", Reach(("10.0.0.0/8",), frozenset({"192.0.2.1"})), False),
        ("127.0.0.1", Reach(("10.0.0.0/8",), frozenset(), is_local=True), False),
        ("127.0.0.1", Reach(("127.0.0.0/8",)), True),
        ("dtn.example.org", Reach(("dtn.example.org",)), True),
    ],
)
def test_jobs_call_addresses_of_the_inventory_or_those_of_the_owner(
    tmp_path: Path, target: str, reach: Reach, is_allowed: bool
) -> None:
    refusal = refusal_of(tmp_path, f"ping -c 1 {target}", reach)
    assert refusal == ("" if is_allowed else f"destination-not-allowed: ping {target}")


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("ping 127.0.0.1 10.0.0.1", "option-not-allowed: ping 10.0.0.1"),
        ("ping -c", "option-not-allowed: ping -c"),
        ("irtt", "option-not-allowed: irtt "),
        ("nuttcp -P 8101 -i 127.0.0.1", "option-not-allowed: nuttcp -i 127.0.0.1"),
        ("nuttcp -P 8101 -i evil.example.org", "option-not-allowed: nuttcp -i evil.example.org"),
        ("nuttcp -P 8101 -i 1", "option-not-allowed: nuttcp without one address"),
        ("nuttcp -1 127.0.0.1", "option-not-allowed: nuttcp with more than one address"),
        ("nuttcp -T 10 -i 1 127.0.0.1", ""),
        ("iperf3 -s -B 127.0.0.1", ""),
        ("iperf3 -c 127.0.0.1 -B evil.example.org", "option-not-allowed: iperf3 -B evil.example.org"),
        ("iperf -s -B 239.1.1.1", "option-not-allowed: iperf -B 239.1.1.1"),
        ("iperf3 -c 127.0.0.1 -c 127.0.0.2", "option-not-allowed: iperf3 with more than one address"),
        ("iperf3 -c 127.0.0.1 -T 192.0.2.1", "option-not-allowed: iperf3 -T 192.0.2.1"),
        ("qperf", ""),
        ("qperf 127.0.0.1 -t 1 tcp_bw 192.0.2.1", "option-not-allowed: qperf 192.0.2.1"),
        ("traceroute -A 127.0.0.1", "option-not-allowed: traceroute -A"),
        ("traceroute 127.0.0.1 evil.example.org", "option-not-allowed: traceroute evil.example.org"),
        ("mtr -z -r 127.0.0.1", "option-not-allowed: mtr -z"),
        ("mtr --aslookup -r 127.0.0.1", "option-not-allowed: mtr --aslookup"),
        ("fio --name=x --norandommap x.fio", "option-not-allowed: fio --norandommap"),
        ("srun --immediate sh {program:ping} 127.0.0.1", "option-not-allowed: srun --immediate"),
        ("netserver -D -Z s", ""),
        ("netserver -D", "option-not-allowed: netserver needs -Z exactly once"),
        ("nuttcp 127.0.0.1 -s", "option-not-allowed: nuttcp -s"),
        ("mpirun -np 2 {program:ping} -c 1 192.0.2.1", "destination-not-allowed: ping 192.0.2.1"),
        ("mpirun -np 2 {program:openssl} x=/etc/passwd", "path-not-allowed: openssl /etc/passwd"),
        ("openssl speed -seconds 1 sha256", ""),
        ("openssl -in{work}/x -in {work}/deep/x.txt x={work} 12 0.5 1.5e9 a.json 33554432 2:1 10:20:30", ""),
        ("openssl --in=/etc/passwd", "path-not-allowed: openssl /etc/passwd"),
        ("openssl -in/etc/passwd", "path-not-allowed: openssl /etc/passwd"),
        ("openssl ../../x", "path-not-allowed: openssl ../../x"),
        ("openssl -connect 192.0.2.1:443", "destination-not-allowed: openssl 192.0.2.1"),
        ("openssl {program:openssl}", ""),
    ],
)
def test_each_word_is_looked_at(tmp_path: Path, line: str, refusal: str) -> None:
    assert refusal_of(tmp_path, line) == refusal


PATHS = ["[/etc/passwd", "(/etc", '"/etc', "-1/etc/passwd", "x+/etc/passwd", "a|/etc/passwd", "file!/etc/passwd"]
PATHS += [
    "~/x",
    "-o~/x",
    "x=~root",
    "%2fetc/passwd",
    "%252fetc",
    "%2e%2e",
    "ratio/2",
    "10.0.0.0/8",
    "http://127.0.0.1/",
]
PATHS += ["{work},/etc", "{work}-of-others/x", "{work}/a,/etc", "{work}/a+/etc", "{work}//etc", "{work}/../x", "-C.."]
PATHS += ["{program:ping}/../sh", "x{work}/way-out/y", "{work}/way-out", "/dev/null/x", "%25252525252fetc"]
ADDRESSES = ["x=10.99.9.9", "user@10.99.9.9", "http:10.99.9.9", "0x0a090909", "evil.example.org", "-H10.99.9.9"]
ADDRESSES += [
    "10\u300299\uff0e9\uff619",
    "-H\uff11\uff10.\uff19\uff19.9.9:22",
    "http\u3002evil\u3002org",
    "fd00\uff1a:1",
]
ADDRESSES += ["[fd00::1]:80", "-Hfd00::1", "x=fd00::1", "10.99.9", "0xa.9.9.9", "012.9.9.9", "01202211011"]
ADDRESSES += [
    "a@evil.example.org:80",
    "evil.example.org.",
    "xn--e1.xn--p1ai",
    "10%2e99.9.9",
    "::ffff:10.9.9.9",
    "fd00::1:80",
]


@pytest.mark.parametrize("word", PATHS)
def test_no_slash_of_an_unknown_program_leads_out_whatever_stands_before_it(tmp_path: Path, word: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "way-out").symlink_to(tmp_path)
    assert refusal_of(work, f"openssl {word}").startswith("path-not-allowed: openssl ")
    assert refusal_of(work, f"openssl {word}", options={"openssl": ["*"]}) == ""


@pytest.mark.parametrize("word", ADDRESSES)
def test_an_unknown_program_is_told_no_address_that_it_may_not_call(tmp_path: Path, word: str) -> None:
    assert refusal_of(tmp_path, f"openssl {word}").startswith("destination-not-allowed: openssl ")


def test_an_unknown_program_is_told_what_it_may_call_and_read(tmp_path: Path) -> None:
    known = frozenset({"10.99.9.9", "fd00::1", "dtn.example.org"})
    reach = Reach((), known, resolve=lambda _name: ["192.0.2.1"])
    for word in (
        "x=10.99.9.9",
        "user@10.99.9.9:80",
        "[fd00::1]:80",
        "-Hfd00::1",
        "dtn.example.org:80",
        "{work}/evil.org",
    ):
        assert refusal_of(tmp_path, f"openssl {word}", reach) == "", word
    assert refusal_of(tmp_path, "openssl -o/scratch/x.org,y /scratch", reach, paths=["/scratch"]) == ""


@pytest.mark.parametrize(
    "variable",
    [
        ("OMPI_MCA_mca_base_env_list", "PYTHONPATH={work}"),
        ("OMP_TOOL_LIBRARIES", "x.so"),
        ("SLURM_EXPORT_ENV", "ALL,LD_PRELOAD=x.so"),
        ("SLURM_TASK_PROLOG", "x"),
        ("UCX_GDB_COMMAND", "x"),
        ("HYDRA_LAUNCHER_EXTRA_ARGS", "x"),
        ("LD_PRELOAD", "x"),
        ("PATH", "x"),
        ("PYTHONPATH", "x"),
        ("BASH_ENV", "x"),
        ("HOME", "x"),
        ("OMP NUM", "x"),
        ("OMPI_MCA_plm_rsh_agent", "/bin/sh"),
        ("OMPI_MCA_mca_base_component_path", "/tmp"),
        ("RSH", "sh"),
        ("SLURM_CONF", "{work}/slurm.conf"),
        ("OMP_NUM_THREADS", "2;x"),
        ("OMP_NUM_THREADS", "a\x00b"),
        ("TZ", ":/etc/passwd"),
        ("UCX_TLS", "tcp,self,../x"),
        ("OMP_DYNAMIC", "x"),
        ("UCX_NET_DEVICES", "data0,/x"),
        ("OMP_PROC_BIND", "x" * 5000),
    ],
)
def test_no_variable_steers_a_loader_an_interpreter_or_a_launcher(tmp_path: Path, variable: tuple[str, str]) -> None:
    refused = refusal_of(tmp_path, "netserver -D -Z s", environment=[variable])
    assert refused.startswith(f"option-not-allowed: netserver {variable[0]}")


def test_variables_hold_what_their_kind_is(tmp_path: Path) -> None:
    allowed = [("OMPI_MCA_btl_tcp_if_include", "10.0.0.0/8,fd00::/64"), ("RSH", "{program:ssh}"), ("TZ", "UTC")]
    allowed += [("OMP_NUM_THREADS", "4"), ("UCX_NET_DEVICES", "data0,mlx5_0:1"), ("GLOBUS_HOSTNAME", "127.0.0.1")]
    assert refusal_of(tmp_path, "netserver -D -Z s", environment=allowed) == ""
    refused = refusal_of(tmp_path, "netserver -D -Z s", environment=[("GLOBUS_HOSTNAME", "192.0.2.1")])
    assert refused == "destination-not-allowed: netserver GLOBUS_HOSTNAME=192.0.2.1"


def test_the_owner_allows_further_variables(tmp_path: Path) -> None:
    def refusal(name: str, value: str, *owners: str) -> str:
        return refusal_of(tmp_path, "netserver -D -Z s", environment=[(name, value)], variables=owners)

    assert refusal("OMP_STACKSIZE", "4M") == "option-not-allowed: netserver OMP_STACKSIZE"
    assert refusal("OMP_STACKSIZE", "4M", "OMP_STACKSIZE") == refusal("X", "{work}/x", "X") == ""
    assert refusal("X", "a/etc", "X") == "path-not-allowed: netserver X=/etc"
    assert refusal("X", "{work}/x", "X file") == refusal("X", "5", "Y", "X number") == ""
    assert refusal("X", "/etc", "X file") == "path-not-allowed: netserver X=/etc"
    assert refusal("X", "x.so", "X program").startswith("option-not-allowed: netserver X")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"paths": ["scratch"]}, "“paths” must be a list of absolute paths"),
        ({"options": {"mtr": "-F"}}, "“options” must map programs"),
        ({"options": {"mtr": ["-F nonsense"]}}, "“options” must map programs"),
        ({"options": {"mtr": ["F"]}}, "“options” must map programs"),
        ({"variables": ["A=b"]}, "“variables” must be a list of variables"),
        ({"variables": ["A flag"]}, "“variables” must be a list of variables"),
        ({"destinations": ["10.0.0.0/99"]}, "“destinations” must be a list of networks"),
        ({"destinations": ["10.0.0"]}, "“destinations” must be a list of networks"),
        ({"sandbox": "no"}, "“sandbox” must be true or false"),
        ({"insecure": 1}, "“insecure” must be true or false"),
        ({"pin": "abc"}, "“pin” must be the SHA-256"),
    ],
)
def test_a_slip_in_the_owners_words_is_named(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    config.save(tmp_path, config.Config("http://127.0.0.1", "t", **settings))
    with pytest.raises(config.ConfigError, match=reason):
        config.load(tmp_path)


@pytest.mark.django_db(transaction=True)
def test_an_agent_calls_nodes_of_the_inventory_and_nobody_else(idle_agent: AgentProgram, node: Node) -> None:
    NodeAddress.objects.create(node=factories.node(node.team), address="192.0.2.77", confirmed_at=timezone.now())
    idle_agent.start()
    job = ended(factories.job(node, "ping", "-c", "1", "-W", "1", "192.0.2.77", time_limit_s=3))
    assert job.fault == ""
    job = ended(factories.job(node, "ping", "-c", "1", "192.0.2.78"))
    assert (job.fault, job.fault_detail) == ("destination-not-allowed", "ping 192.0.2.78")


@pytest.mark.django_db(transaction=True)
def test_a_server_cannot_widen_what_the_owner_says(idle_agent: AgentProgram, node: Node) -> None:
    NodeAddress.objects.create(node=factories.node(node.team), address="192.0.2.77", confirmed_at=timezone.now())
    tools.configure(idle_agent.folder, destinations=["10.0.0.0/8"])
    idle_agent.start()
    job = ended(factories.job(node, "ping", "-c", "1", "192.0.2.77"))
    assert (job.fault, job.fault_detail) == ("destination-not-allowed", "ping 192.0.2.77")
