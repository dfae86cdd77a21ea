"""No job brings code: where an interpreter looks for modules, as a word, or as a file that is read unasked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.bench import tools as registry
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agent.test_policy import guard_of, refusal_of
from tests.agent.test_policy_tools import plans
from tests.agents import factories
from workers.agent.folders import BadName, checked
from workers.agent.policy.interpreters import INTERPRETERS

PYTHON = shutil.which("python3") or "python3"
PINGPONG = "-m mpi4py.bench pingpong"
LAUNCHERS = ["", "mpiexec.hydra -n 1 ", "mpirun -np 1 ", "srun --nodes=1 ", "mpirun -np 1 srun "]


def plant(folder: Path) -> Path:
    """Put the module of somebody else where Python looks for it, and return what it would leave behind."""
    (folder / "mpi4py").mkdir()
    (folder / "mpi4py" / "__init__.py").write_text("")
    (folder / "mpi4py" / "bench.py").write_text("open('taken', 'w').write('x')\n")
    return folder / "taken"


def test_python_takes_no_module_from_where_it_works(tmp_path: Path) -> None:
    taken = plant(tmp_path)
    plain = ["python3", *PINGPONG.split()]
    # Older Pythons know no variable against it.
    usual = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(plain, executable=PYTHON, cwd=tmp_path, env=usual, check=False, capture_output=True)
    assert taken.exists()
    taken.unlink()
    argv = guard_of(tmp_path).completed(plain)
    subprocess.run(argv, executable=PYTHON, cwd=tmp_path, env=usual, check=False, capture_output=True)
    assert not taken.exists()


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("python", ["python3", "python", "python3.12", "pypy3"])
def test_every_python_is_isolated_whoever_starts_it(tmp_path: Path, launcher: str, python: str) -> None:
    line = f"{launcher}{{program:{python}}} {PINGPONG}" if launcher else f"{python} {PINGPONG}"
    line = line.replace(" srun ", " {program:srun} ")
    assert refusal_of(tmp_path, line) == ""
    argv = guard_of(tmp_path).completed(line.split())
    assert " ".join(argv) == line.replace(" -m mpi4py", " -I -m mpi4py")


def test_the_owners_word_leaves_a_command_as_it_is(tmp_path: Path) -> None:
    argv = ["python3", "x.py"]
    assert guard_of(tmp_path, options={"python3": ["*"]}).completed(argv) == argv


@pytest.mark.parametrize("pattern", [*INTERPRETERS, "python3.12", "pypy3"])
def test_an_interpreter_is_told_nothing_unless_its_owner_says_so(tmp_path: Path, pattern: str) -> None:
    program = pattern.replace("[0-9]*", "5.4").replace("*", "")
    for words in ("-c id", "-e 1", "x", "-oProxyCommand=id 127.0.0.1"):
        for line in (f"{program} {words}", f"mpirun -np 1 {{program:{program}}} {words}"):
            assert refusal_of(tmp_path, line).startswith("option-not-allowed"), line
    assert refusal_of(tmp_path, f"{program} -c id", options={program: ["*"]}) == ""


@pytest.mark.parametrize(
    "name",
    ["mpi4py.py", "X.PY", "numpy.pyc", "a.pth", "libm.so", "libm.so.6", "ucx.conf", ".netrc", ".mpirc", "json.zip"],
)
def test_a_file_that_programs_load_by_themselves_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="load by themselves"):
        checked(name)


def test_the_files_of_every_tool_may_be_there() -> None:
    names = {
        name
        for tool in registry.all_tools()
        for plan in plans(tool)
        for stage in plan.stages
        for command in stage.commands
        for name in (*dict(command.files), *command.collect)
    }
    assert {"hosts", "gridftp.conf"} <= names
    assert all(checked(name) == name for name in names)


@pytest.mark.django_db(transaction=True)
def test_a_job_that_brings_a_module_is_refused_and_others_are_isolated(idle_agent: AgentProgram, node: Node) -> None:
    tools.allow(idle_agent.folder, {"python3": str(idle_agent.home / "tools" / "say")})
    idle_agent.start()
    argv = ["python3", *PINGPONG.split()]
    job = ended(factories.job(node, *argv, files=[("mpi4py.py", "open('taken', 'w')")], collect=["taken"]))
    assert job.fault == "not-started"
    assert "'mpi4py.py' is a name that programs load by themselves" in job.fault_detail
    assert printed(ended(factories.job(node, *argv)))["stdout"] == f"out: -I {PINGPONG}\n"
    assert "PYTHONSAFEPATH=1\n" in printed(ended(factories.job(node, "where")))["stdout"]
