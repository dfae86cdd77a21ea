"""No option of any program takes an address unseen, and each that calls others names exactly one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.test_policy import refusal_of
from tests.agent.test_policy_tools import all_rules
from workers.agent.policy import network, others
from workers.agent.policy.rules import ADDRESS, FLAG, LOCAL, NUMBER, TEXT, Rules

TABLE = {**network.TABLE, **others.TABLE, "osu_bw": others.FAMILIES["osu_*"], "IMB-MPI1": others.FAMILIES["IMB-*"]}
HOSTS = ["192.0.2.1", "[2001:db8::1]:80", "www.example.org", "x@192.0.2.1"]


def forms(rules: Rules, kinds: set[str], head: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the beginning of a command before each value of some kinds, by the first words that lead to it."""
    for name, part in rules.commands.items():
        yield from forms(part, kinds, (*head, name))
    if rules.behind is not None:
        yield from forms(rules.behind, kinds, (*head, "--"))
    for option, kind in rules.options.items():
        if kind in kinds:
            yield (*head, *rules.prefix, option)


@pytest.mark.parametrize("program", TABLE)
def test_no_text_of_an_option_is_an_address_or_a_host(tmp_path: Path, program: str) -> None:
    for words in forms(TABLE[program], {TEXT, NUMBER}):
        for host in HOSTS:
            for line in (" ".join([program, *words, host]), f"{' '.join([program, *words])}={host}"):
                assert refusal_of(tmp_path, line).startswith("option-not-allowed"), line


@pytest.mark.parametrize("program", TABLE)
def test_what_is_local_is_no_name_and_no_group(tmp_path: Path, program: str) -> None:
    for words in forms(TABLE[program], {LOCAL}):
        for host in ("www.example.org", "239.1.2.3", "ff02::1", "127.0.0.1,www.example.org"):
            line = " ".join([program, *words, host])
            assert refusal_of(tmp_path, line).startswith("option-not-allowed"), line


def called(program: str, rules: Rules) -> Iterator[tuple[str, list[str]]]:
    """Yield each way to begin a command that calls another node, and the words that name one."""
    for name, part in (rules.commands or {"": rules}).items():
        if part.calls:
            option = next((option for option, kind in part.options.items() if kind == ADDRESS), "")
            yield f"{program} {name}".strip(), [*filter(None, [option]), "127.0.0.1"]


@pytest.mark.parametrize("program", network.TABLE)
def test_a_program_that_calls_is_told_one_address(tmp_path: Path, program: str) -> None:
    for begin, address in called(program, TABLE[program]):
        rules = TABLE[program].commands.get(begin.partition(" ")[2], TABLE[program])
        assert refusal_of(tmp_path, " ".join([begin, *address])) == ""
        assert refusal_of(tmp_path, " ".join([begin, *address, *address])).startswith("option-not-allowed")
        without = refusal_of(tmp_path, begin)
        assert without == ("" if rules.may_serve else f"option-not-allowed: {program} without one address")
        for option in rules.serves:
            line = " ".join([begin, option])
            assert refusal_of(tmp_path, line) == ""
            assert refusal_of(tmp_path, " ".join([line, *address])).startswith("option-not-allowed"), line


def test_every_program_that_takes_an_address_calls_or_listens() -> None:
    """Those whose rules do not count addresses only listen."""
    uncounted = {
        program
        for program, rules in network.TABLE.items()
        for part in all_rules(rules)
        if (ADDRESS in part.options.values() or ADDRESS in part.words) and not part.calls
    }
    assert uncounted == {"sockperf"}
    assert not network.TABLE["sockperf"].commands["server"].calls
    assert network.TABLE["sockperf"].commands["pp"].calls


@pytest.mark.parametrize("program", [program for program, rules in TABLE.items() if rules.attached])
def test_values_that_may_be_left_out_stand_in_the_same_word(tmp_path: Path, program: str) -> None:
    for option, kind in TABLE[program].options.items():
        if kind != FLAG:
            assert refusal_of(tmp_path, f"{program} {option} 1") == f"option-not-allowed: {program} {option}"
