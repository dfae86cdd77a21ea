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
    own = {"find_program": find_without_ssh}
    assert refusal(tmp_path, program, option, here, **own) == ""
    assert refusal(tmp_path, program, option, f"{here}\n{away}", **own) == refused
    assert refusal(tmp_path, program, option, away) == ""
    naming, variable = others.TABLE[program].starters
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
