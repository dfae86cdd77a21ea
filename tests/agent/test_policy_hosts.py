"""The hosts in a launcher's files are called: each may be, and a remote shell is one that may be started."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.test_policy import refusal_of
from workers.agent.policy import Reach, others
from workers.agent.policy.hosts import KINDS, is_own
from workers.agent.policy.rules import FILE
from workers.agent.refusals import CannotStart

REACH = Reach(("127.0.0.1", "10.9.0.0/16", "fd00::/16", "dtn.example.org"))
LINES = {"hydra-hosts": "HOST:2", "openmpi-hosts": "HOST slots=2", "openmpi-ranks": "rank 0=HOST slot=0:1"}
RUN = "-np 2 {program:ping} -c 1 127.0.0.1"
# What belongs to the machine of the launcher alone, whatever it holds.
PLACES = {"--wdir", "-wdir"}


def options() -> Iterator[tuple[str, str, str]]:
    """Yield the program, the option and the kind of each file of hosts."""
    for program, rules in others.TABLE.items():
        yield from ((program, option, kind) for option, kind in rules.options.items() if kind in KINDS)


def find_without_ssh(name: str) -> str:
    """Return where a program lies on a node whose owner has not allowed ssh."""
    if name in ("ssh", "rsh"):
        raise CannotStart("not-allowed", f"{name} is not on the allow-list")
    return f"/usr/bin/{name}"


def refusal(tmp_path: Path, program: str, option: str, text: str, run: str = RUN, **more: object) -> str:
    """Return why a launcher with a file of hosts is refused."""
    line = f"{program} {option} {{work}}/hosts {run}"
    return refusal_of(tmp_path, line, REACH, files={"hosts": text}, **more)


def test_no_file_of_a_launcher_is_unread() -> None:
    assert {program for program, _option, _kind in options()} == {"mpirun", "mpiexec", "mpiexec.hydra"}
    for program in ("mpirun", "mpiexec", "mpiexec.hydra"):
        files = {option for option, kind in others.TABLE[program].options.items() if kind == FILE}
        assert files <= PLACES


@pytest.mark.parametrize(("program", "option", "kind"), [*options()])
def test_each_host_of_a_file_may_be_called(tmp_path: Path, program: str, option: str, kind: str) -> None:
    form = LINES[kind] + "\n"
    for host in ("127.0.0.1", "10.9.1.1", "dtn.example.org", *(["fd00::1"] if "hydra" not in kind else [])):
        assert refusal(tmp_path, program, option, form.replace("HOST", host)) == "", host
    for host in ("127.0.0.2", "evil.example.org", "other", "2130706434", "127.2", "0x7f000002", "localhost"):
        text = form.replace("HOST", "127.0.0.1") + form.replace("HOST", host)
        assert refusal(tmp_path, program, option, text).startswith("destination-not-allowed"), host


@pytest.mark.parametrize(("program", "option", "kind"), [*options()])
def test_a_line_in_any_other_form_is_refused(tmp_path: Path, program: str, option: str, kind: str) -> None:
    for host in ("-oProxyCommand=id", "x@127.0.0.1", "127.0.0.1,127.0.0.2", "127.0.0.1 127.0.0.2", "+n0", "{work}"):
        refused = refusal(tmp_path, program, option, LINES[kind].replace("HOST", host))
        assert refused.startswith("option-not-allowed"), host
    good = LINES[kind].replace("HOST", "127.0.0.1")
    for more in (
        " user=root",
        " port=1",
        "\r",
        "\x0b127.0.0.2",
        "\x85127.0.0.2",
        "\u2028127.0.0.2",
        " #",
        "\n#x",
        "\n\n",
    ):
        assert refusal(tmp_path, program, option, good + more).startswith("option-not-allowed"), more
    refused = refusal_of(tmp_path, f"{program} {option} {tmp_path}/hosts {RUN}", REACH, paths=[str(tmp_path)])
    assert refused.startswith("path-not-allowed")
    assert refusal_of(tmp_path, f"{program} {option} hosts {RUN}", REACH).startswith("path-not-allowed")


@pytest.mark.parametrize(("program", "option", "kind"), [*options()])
def test_ranks_elsewhere_need_a_shell_that_the_owner_allows(
    tmp_path: Path, program: str, option: str, kind: str
) -> None:
    here, away = (LINES[kind].replace("HOST", host) for host in ("127.0.0.1", "10.9.1.1"))
    refused = "not-allowed: ssh is not on the allow-list"
    own: dict[str, object] = {"find_program": find_without_ssh}
    assert refusal(tmp_path, program, option, here, **own) == ""
    assert refusal(tmp_path, program, option, f"{here}\n{away}", **own) == refused
    assert refusal(tmp_path, program, option, away) == ""
    naming, variable = others.TABLE[program].starters
    own["shells"] = ["lab-remote"]
    assert refusal(tmp_path, program, option, away, f"{naming} {{program:lab-remote}} {RUN}", **own) == ""
    environment = [(variable, "{program:lab-remote}")]
    assert refusal(tmp_path, program, option, away, environment=environment, **own) == ""


def test_hydra_names_no_shell_that_the_owner_does_not_allow(tmp_path: Path) -> None:
    own = {"find_program": find_without_ssh}
    line = f"mpiexec.hydra -launcher ssh {RUN}"
    assert refusal_of(tmp_path, line, **own) == "not-allowed: ssh is not on the allow-list"
    assert (
        refusal_of(tmp_path, f"mpiexec.hydra -launcher rsh {RUN}")
        == "option-not-allowed: mpiexec.hydra -launcher rsh"
    )
    assert refusal(tmp_path, "mpiexec.hydra", "-f", "10.9.1.1", f"-launcher fork {RUN}", **own) == ""
    for name in ("-hosts", "-host", "-H", "--host", "-w", "--nodelist", "-configfile", "--app"):
        for program in ("mpiexec.hydra", "mpirun", "srun"):
            assert refusal_of(tmp_path, f"{program} {name} 127.0.0.1 {RUN}").startswith("option-not-allowed")


def test_a_machine_knows_its_own_addresses() -> None:
    assert is_own("127.0.0.1")
    assert is_own("localhost")
    assert not is_own("192.0.2.1")
    assert not is_own("[2001:db8::1]")
    assert not is_own("239.1.2.3")
    assert not is_own("dtn.example.org")


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


# What the launchers take besides that names a file, a machine or a program (their manuals and help).
FILES = {
    "mpirun": words(
        "-H -host --host -hostfile -machinefile --machinefile --default-hostfile -default-hostfile -rf -rankfile "
        "--app -app -configfile --prefix --preload-files -preload-files -s --preload-binary --output-filename "
        "-tune --tune -am --am --amca -x -path --path --report-uri --report-pid --ompi-server --hnp --dvm "
        "--launch-agent -xml-file --xml-file -map-by -rank-by -bind-to --tv --debugger -debugger --wd -wd -wdir "
        "--set-cwd-to-session-dir --noprefix -add-host --add-host -add-hostfile --add-hostfile --prtemca "
        "--runtime-options --mapby --rankby --cpu-set --slot-list"
    ),
    "mpiexec.hydra": words(
        "-hosts -host -configfile -hostfile -env -envlist -genvlist -rmk -topolib -map-by -membind -demux "
        "-outfile-pattern -errfile-pattern -nameserver -localhost -pmi-port -path --f -machine -gdb -profile "
        "-usize -ckpoint-prefix"
    ),
}
PAIRS = words(
    "plm_rsh_agent=bash plm_rsh_args=x orte_launch_agent=x plm_rsh_prefix=x rmaps_rank_file_path={work}/hosts "
    "rmaps_seq_file={work}/hosts rmaps_base_mapping_policy=seq:file={work}/hosts orte_hostfile={work}/hosts "
    "orte_default_hostfile={work}/hosts orte_rankfile={work}/hosts rmaps_default_mapping_policy=seq "
    "prte_hostfile={work}/hosts mca_base_env_list=x mca_base_component_path={work} "
    "mca_base_param_files={work}/hosts hwloc_base_topo_file={work}/hosts filem_rsh_rsh=x "
    "orte_forward_job_control=x ras_base_launch_orted_on_hn=1 btl_openib_device_param_files={work}/hosts"
)
POLICIES = words(
    "rankfile:file=x rankfile:file={work}/hosts seq seq:file=x seq:file={work}/hosts SEQ:file=x rankfile "
    "rankfile:oversubscribe ppr:2:node:file=x core:file=x node:pe=2,file=x dist:auto dist:file=x user:0,1 user "
    "seq,file=x pe-list=0 ppr:x slot:file={work}/hosts machine:x colocate node:display-map:file=x mindist:x"
)


@pytest.mark.parametrize("program", ["mpirun", "mpiexec", "mpiexec.hydra"])
def test_no_other_option_of_a_launcher_names_a_file_a_machine_or_a_program(tmp_path: Path, program: str) -> None:
    own = {"files": {"hosts": "evil.example.org\n"}, "find_program": find_without_ssh}
    names = FILES["mpiexec.hydra" if program == "mpiexec.hydra" else "mpirun"]
    listed = others.TABLE[program].options
    for name in names:
        for value in (" {work}/hosts", " hosts", "={work}/hosts", " 127.0.0.1", " seq:file={work}/hosts"):
            refused = refusal_of(tmp_path, f"{program} {name}{value} {RUN}", REACH, **own)
            assert refused, f"{name}{value}"
            assert name in listed or refused.startswith("option-not-allowed"), name
    for pair in PAIRS:
        name, _equals, value = pair.partition("=")
        for option in ("--mca", "-mca", "--gmca", "--omca", "--prtemca", "-genv"):
            refused = refusal_of(tmp_path, f"{program} {option} {name} {value} {RUN}", REACH, **own)
            assert refused.startswith("option-not-allowed"), pair
        for family in ("OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "OMPI_", "HYDRA_", "MPIEXEC_"):
            refused = refusal_of(tmp_path, f"{program} {RUN}", REACH, environment=[(family + name, value)], **own)
            assert refused, family + name


@pytest.mark.parametrize("program", ["mpirun", "mpiexec", "mpiexec.hydra"])
def test_a_policy_names_no_file(tmp_path: Path, program: str) -> None:
    own = {"files": {"hosts": "evil.example.org\n", "x": "evil.example.org\n"}, "find_program": find_without_ssh}
    for option in ("--map-by", "--rank-by", "--bind-to", "-bind-to"):
        for policy in POLICIES:
            for choice in (f"{option} {policy}", f"{option}={policy}"):
                refused = refusal_of(tmp_path, f"{program} {choice} {RUN}", REACH, **own)
                assert refused.startswith("option-not-allowed"), choice
    usual = words("node slot core numa socket:pe=4 ppr:2:node ppr:1:socket:pe=8 node:span,oversubscribe")
    if program != "mpiexec.hydra":
        assert [p for p in usual if refusal_of(tmp_path, f"{program} --map-by {p} {RUN}", REACH, **own)] == []
    option = others.TABLE[program].options.keys() & {"--bind-to", "-bind-to"}
    for policy in ("none", "core", "numa", "socket", "core:overload-allowed", "core:2"):
        assert refusal_of(tmp_path, f"{program} {min(option)} {policy} {RUN}", REACH, **own) == ""
