"""What starts other programs is no program of a job, and no word of one, unless the node's owner says which."""

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agent.test_confinement import facts_of
from tests.agent.test_policy import refusal_of
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent import config
from workers.agent.policy import network, others, rules_of
from workers.agent.policy.rules import PROGRAM
from workers.agent.policy.starters import COMMON, STARTERS, WRAPPERS
from workers.agent.policy.variables import VARIABLES


def name_of(pattern: str) -> str:
    """Return a name that a pattern has."""
    return pattern.replace("[0-9]*", "5.4").replace("*", "2")


# Those with a dot look like hosts, which a word may not name either.
NAMES = [name_of(pattern) for pattern in STARTERS if "." not in name_of(pattern)]
# Each of these would start a shell by its words.
ATTACKS = {
    "taskset": "-c 0 sh -c WORDS",
    "env": "sh -c WORDS",
    "timeout": "5 sh -c WORDS",
    "nice": "sh -c WORDS",
    "find": ". -maxdepth 0 -exec sh -c WORDS ;",
    "sed": "1e;touch;taken",
    "tar": "-cf x . --checkpoint=1 --checkpoint-action=exec=sh",
    "awk": "BEGIN{system(ARGV[1])} WORDS",
}


def test_no_starter_is_a_program_unless_it_has_rules(tmp_path: Path) -> None:
    for name in [*NAMES, *map(name_of, COMMON)]:
        if rules_of(name) is None:
            for line in (name, f"{name} x", f"mpirun -np 1 {{program:{name}}}"):
                assert refusal_of(tmp_path, line).startswith("option-not-allowed"), line
            assert refusal_of(tmp_path, f"{name} x", options={name: ["*"]}) == "", name
        assert refusal_of(tmp_path, f"mytool {{program:{name}}}").startswith("option-not-allowed"), name


def test_no_starter_is_a_word_of_a_program_without_rules(tmp_path: Path) -> None:
    forms = (
        "{}",
        "--opt={}",
        "-o{}",
        "a,{},b",
        "x:{}",
        "5,{}",
        "(exec={})",
        "{}+",
        "a;{}",
        "%2a{}",
        "{{work}}/{}",
    )
    for name, form in itertools.product(NAMES, forms):
        refused = refusal_of(tmp_path, f"mytool {form.format(name)}")
        assert refused.startswith("option-not-allowed: mytool "), (name, form)
        assert refused.endswith(": a program that starts others")
    assert refusal_of(tmp_path, f"mytool {name}", options={"mytool": ["*"]}) == ""


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "second").symlink_to(shutil.which("env") or "/usr/bin/env")
    reach = {"paths": ["/usr/bin"]}
    (tmp_path / "first").symlink_to("deep/second")
    for word in ("{work}/first", "--opt={work}/first", "-o{work}/deep/second"):
        assert refusal_of(tmp_path, f"mytool {word}", **reach).startswith("option-not-allowed"), word
    place = {"find_program": lambda _name: str(tmp_path / "first")}
    assert refusal_of(tmp_path, "mytool 1", **place).startswith("option-not-allowed")
    assert refusal_of(tmp_path, "openssl {program:other}", **place).startswith("option-not-allowed")


def test_a_name_on_the_path_is_what_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "harmless").symlink_to(shutil.which("env") or "/usr/bin/env")
    assert refusal_of(tmp_path, "mytool harmless") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal_of(tmp_path, "mytool harmless").startswith("option-not-allowed")


def test_what_only_looks_like_one_is_let_through(tmp_path: Path) -> None:
    line = "mytool --time 10 -runtime 5 --env-size=3 goodput uptime pipeline wireless cc=bbr proto=ip tcp_rr 1e9"
    assert refusal_of(tmp_path, line) == ""


@pytest.mark.parametrize("name", ["bash", "env", "taskset", "nice"])
def test_none_is_the_remote_shell_of_a_launcher(tmp_path: Path, name: str) -> None:
    line = f"mpiexec.hydra -launcher-exec {{program:{name}}} -n 1 {{program:osu_bw}}"
    assert refusal_of(tmp_path, line).startswith("option-not-allowed")
    assert refusal_of(tmp_path, line.replace(name, "ssh")) == ""


WAYS = [(program, way) for program, rules in others.TABLE.items() for way in rules.starters]


@pytest.mark.parametrize(("program", "way"), WAYS)
def test_the_way_to_other_nodes_is_one_that_the_owner_named(tmp_path: Path, program: str, way: str) -> None:
    """The launcher tells it words that no rules have: cp, fio or an owner's script would be started with them."""

    def refusal(name: str, **more: Any) -> str:
        value = f"{{program:{name}}}"
        option, environment = (f"{way} {value} ", []) if way.startswith("-") else ("", [(way, value)])
        return refusal_of(tmp_path, f"{program} {option}-n 1 {{program:osu_bw}}", environment=environment, **more)

    for name in {*network.TABLE, *others.TABLE, "mine"} - {"ssh", "rsh"}:
        assert refusal(name).startswith("option-not-allowed"), name
    assert refusal("mine").endswith("it is none of “remote_shells”")
    for name in ("ssh", "rsh"):
        assert refusal(name) == ""
    assert refusal("mine", shells=["mine"]) == ""
    assert refusal("bash", shells=["bash"]).startswith("option-not-allowed")


def test_no_rule_lets_a_job_choose_any_other_program_to_be_started() -> None:
    kinds = [kind for rules in (*network.TABLE.values(), *others.TABLE.values()) for kind in rules.options.values()]
    assert PROGRAM not in (*kinds, *VARIABLES.values())


@pytest.mark.parametrize(
    ("line", "is_allowed"),
    [
        ("taskset -c 0-3,5 iperf3 -c 127.0.0.1", True),
        ("taskset 0xff {program:iperf3} -s", True),
        ("numactl --cpunodebind=0 -m 1 iperf3 -s", True),
        ("nice -n 5 iperf3 -s", True),
        ("timeout -k 1 -s INT 10s iperf3 -s", True),
        ("taskset -c 0 bash -c id", False),
        ("taskset -c 0 mtr -r 127.0.0.1", False),
        ("taskset -c 0 iperf3 -c 192.0.2.1", False),
        ("taskset -c 0 iperf3 -s -F /etc/passwd", False),
        ("taskset -p 0 1", False),
        ("taskset bash iperf3", False),
        ("taskset -c 0 nice iperf3 -s", False),
        ("numactl --interleave=file:x iperf3 -s", False),
        ("numactl -m bash iperf3 -s", False),
        ("timeout iperf3 -s", False),
        ("nice --adjustment iperf3 -s", False),
        ("env iperf3 -s", False),
    ],
)
def test_an_owner_says_what_a_wrapper_may_start(tmp_path: Path, line: str, is_allowed: bool) -> None:
    wrappers = {name: ["iperf3"] for name in WRAPPERS}
    assert (refusal_of(tmp_path, line, wrappers=wrappers) == "") == is_allowed
    assert refusal_of(tmp_path, line).startswith("option-not-allowed")


@pytest.mark.parametrize("wrappers", [{"env": ["iperf3"]}, {"taskset": "iperf3"}, ["taskset"], {"taskset": [1]}])
def test_a_slip_under_wrappers_is_named(tmp_path: Path, wrappers: Any) -> None:
    config.save(tmp_path, config.Config("http://127.0.0.1", "t", wrappers=wrappers))
    with pytest.raises(config.ConfigError, match="“wrappers” must map taskset"):
        config.load(tmp_path)


@pytest.mark.django_db(transaction=True)
def test_an_agent_starts_nothing_by_way_of_another_program(idle_agent: AgentProgram, node: Node) -> None:
    here = {name: place for name in ATTACKS if (place := shutil.which(name))}
    assert {"env", "timeout", "nice", "find", "sed", "tar"} <= {*here}
    scratch = idle_agent.home / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    tools.allow(idle_agent.folder, {**here, "harmless": here["env"]})
    tools.configure(idle_agent.folder, paths=[str(scratch)])
    idle_agent.start()
    attacks = {**{name: ATTACKS[name] for name in here}, "harmless": "sh -c WORDS", "say": "sh -c WORDS"}
    for name, words in attacks.items():
        argv = [part.replace("WORDS", f"touch {scratch}/taken") for part in words.split()]
        job = ended(factories.job(node, name, *argv))
        assert job.fault == "option-not-allowed", name
    assert not list(scratch.iterdir())
    assert idle_agent.said("env is on the allow-list, but starts other programs: it is not used")
    confinement = wait_for(lambda: facts_of(node))["confinement"]
    assert confinement["unused"] == sorted([*here, "harmless"])
    page = render_to_string("agents/_facts.html", {"facts": facts_of(node)})
    assert "Allowed, but not used" in page
    assert "<code>harmless</code>" in page
    assert not idle_agent.said("say is on the allow-list, but")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(shutil.which("taskset") is None, reason="there is no taskset here")
def test_a_wrapper_starts_the_owners_program(idle_agent: AgentProgram, node: Node) -> None:
    tools.allow(idle_agent.folder, {"taskset": shutil.which("taskset")})
    tools.configure(idle_agent.folder, wrappers={"taskset": ["say"]})
    idle_agent.start()
    assert printed(ended(factories.job(node, "taskset", "-c", "0", "say", "7")))["stdout"] == "out: 7\n"
