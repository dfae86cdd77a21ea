"""The agent program as a real process of its own, from the zipapp that nodes download."""

import functools
import importlib.util
import io
import marshal
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

from django.utils import timezone

from apps.agents import commands, program, services
from apps.testbeds.models import Node
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent import main

# The oldest Python at hand can be named here: nodes have what they have.
PYTHON = os.environ.get("FATHOM_AGENT_PYTHON", sys.executable)
# PEP 552: what was compiled is not compared with its source.
UNCHECKED = (1).to_bytes(4, "little") + bytes(8)


@functools.cache
def compiled() -> bytes:
    """Return the zipapp with what this Python makes of each module beside it; any other Python passes over that.

    A process that compiles all of it again takes as long for it as for the rest of its start.
    """
    buffer = io.BytesIO(program.current().data)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name in archive.namelist():
            if name.endswith(".py") and name != "__main__.py":
                code = compile(archive.read(name), name, "exec")
                archive.writestr(f"{name}c", importlib.util.MAGIC_NUMBER + UNCHECKED + marshal.dumps(code))
    return buffer.getvalue()


class AgentProgram:
    """An agent's folder and the process that works in it."""

    def __init__(self, folder: Path, server: LiveServer, prefix: tuple[str, ...] = ()) -> None:
        # What the program is started under, such as `ip netns exec NAME`.
        self.prefix = prefix
        self.home = folder
        self.folder = folder / "agent"
        self.server = server
        self.zipapp = folder / "fathom-agent.pyz"
        self.zipapp.write_bytes(compiled())
        self.log = folder / "agent.log"
        self.process: subprocess.Popen[bytes] | None = None

    def call(self, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run one command of the program to its end."""
        command = [*self.prefix, PYTHON, str(self.zipapp), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)

    def enrol(self, node: Node) -> None:
        """Become the agent of a node; in this process, if that is where the program would run."""
        issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
        words = ["enrol", "--server", self.server.url, "--token", issued.text, "--dir", str(self.folder)]
        words += ["--node", node.name]
        # The emulated networks of the tests are nobody else's.
        words += ["--insecure"] if commands.is_insecure(self.server.url) else []
        if self.prefix:
            done = self.call(*words)
            assert done.returncode == 0, done.stderr
        else:
            assert main.main(words) == 0

    def start(self) -> None:
        """Start working."""
        with self.log.open("ab") as sink:
            command = [*self.prefix, PYTHON, str(self.zipapp), "run", "--dir", str(self.folder)]
            self.process = subprocess.Popen(command, stdout=sink, stderr=sink)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """End the process and return its exit status."""
        assert self.process is not None
        self.process.send_signal(with_signal)
        status = self.process.wait(60)
        self.process = None
        return status

    def said(self, text: str) -> bool:
        """Say whether the program logged a text."""
        return text in self.log.read_text()

    def spooled(self) -> list[Path]:
        """Return the files of the spool."""
        return sorted((self.folder / "spool").glob("*.jsonl"))


def processes_with(word: str) -> list[int]:
    """Return the ids of the processes that have a word in their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(path.parent.name))
    return found


def wait_until_gone(word: str) -> None:
    """Wait until no process has the word in its command line."""
    wait_for(lambda: not processes_with(word), 30)
