"""No option of an allowed program reads, writes or starts what lies outside of a job's own folder."""

import fnmatch
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.agents import compression
from apps.agents.models import Job
from apps.bench import tools as registry
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.attempts import ATTEMPTS
from tests.agent.program import AgentProgram
from tests.agent.states import all_ended, printed
from tests.agents import factories
from tests.rotation import part_of
from workers.agent import kin
from workers.agent.config import KNOWN_PROGRAMS
from workers.agent.places import USUAL_FOLDERS
from workers.agent.policy import rules_of
from workers.agent.policy.others import FAMILIES
from workers.agent.sandbox import kernel

WORDS = "the secret of somebody else"
REFUSALS = {"option-not-allowed", "path-not-allowed", "destination-not-allowed", "not-allowed"}
# Programs that are no more than names to the operating system the tests run on stand in for themselves elsewhere.
STANDING_IN = {"osu_*": "osu_bw", "bt.*": "bt.S.x", "NP[a-z]*": "NPopenmpi", "IMB-*": "IMB-MPI1"}


def all_programs() -> set[str]:
    """Return every program that the product starts, and those that agents allow by themselves; one of a family."""
    names = {*KNOWN_PROGRAMS, *(program for tool in registry.all_tools() for program in tool.programs)}
    kinds = {name: next((kind for kind in FAMILIES if fnmatch.fnmatchcase(name, kind)), name) for name in names}
    return set({kinds[name]: name for name in sorted(names)}.values())


@pytest.mark.parametrize("program", sorted(all_programs()))
def test_every_program_is_tried(program: str) -> None:
    assert rules_of(program) is not None, f"{program} has no policy: give it one in workers/agent/policy"
    assert any(fnmatch.fnmatchcase(program, name) for name in ATTEMPTS), (
        f"try the options of {program} in attempts.py"
    )


class Others:
    """Things of others on the node, open to everybody as far as the system goes."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "others"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.secret, self.target = self.folder / "secret", self.folder / "target"
        self.script = self.folder / "script"
        self.secret.write_text(WORDS)
        self.secret.chmod(0o666)
        self.script.write_text(f"#!/bin/sh\necho started > {self.target}\n")
        self.script.chmod(0o777)

    def fill(self, words: list[str]) -> list[str]:
        """Return an attempt with the real paths in it."""
        places = {"SECRET": self.secret, "TARGET": self.target, "SCRIPT": self.script}
        for name, place in places.items():
            words = [word.replace(name, str(place)) for word in words]
        return words

    def assert_untouched(self) -> None:
        """Fail if anything is not as it was."""
        assert sorted(path.name for path in self.folder.iterdir()) == ["script", "secret"]
        assert self.secret.read_text() == WORDS
        assert self.script.read_text().startswith("#!/bin/sh\necho started")


def installed() -> dict[str, str]:
    """Return the programs of the table that are here, and where."""
    names = {STANDING_IN.get(name, name) for name in ATTEMPTS}
    found = {name: shutil.which(name, path=":".join(USUAL_FOLDERS)) for name in names}
    return {name: path for name, path in found.items() if path}


def attempts(others: Others) -> Iterator[list[str]]:
    """Yield the attempts of this run as argvs: some of each program."""
    for program, lines in ATTEMPTS.items():
        for words in part_of(lines):
            yield [STANDING_IN.get(program, program), *others.fill(words)]


def says_nothing(job: Job) -> bool:
    """Say whether the secret is in nothing that a job gave back."""
    given = [compression.unpack(file.content_z) for file in job.collected.all()]
    streams = [] if job.fault else printed(job).values()
    return not any(WORDS in text for text in (*streams, *(data.decode("utf-8", "replace") for data in given)))


@pytest.mark.django_db(transaction=True)
def test_the_agent_refuses_every_option_that_takes_a_file_or_starts_a_program(
    idle_agent: AgentProgram, node: Node
) -> None:
    others = Others(idle_agent.home)
    tools.allow(idle_agent.folder, {argv[0]: "/bin/false" for argv in attempts(others)} | installed())
    idle_agent.start()
    jobs = factories.jobs(node, attempts(others), time_limit_s=5.0)
    assert [" ".join(job.argv) for job in all_ended(jobs) if job.fault not in REFUSALS] == []
    others.assert_untouched()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(kernel.landlock_version() == 0, reason="this kernel has no Landlock")
def test_the_sandbox_holds_where_the_owner_allows_every_option(idle_agent: AgentProgram, node: Node) -> None:
    others = Others(idle_agent.home)
    here = installed()
    tools.allow(idle_agent.folder, here)
    tools.configure(idle_agent.folder, options={name: ["*"] for name in here})
    idle_agent.start()
    tried = [argv for argv in attempts(others) if argv[0] in here]
    assert len({argv[0] for argv in tried}) > 8
    jobs = factories.jobs(node, tried, time_limit_s=3.0, collect=["copy", "x.0.0", "fathom"])
    # With the other user's rights alone each would have what it is after.
    assert [job.command_line for job in all_ended(jobs) if not says_nothing(job)] == []
    others.assert_untouched()
    assert not kin.kin_of(others.folder)
