"""Plans of parallel programs carried out on this machine as the agents would, in a work folder for each command."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output
from workers.agent.facts import topology

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
USER = "root" if os.geteuid() == 0 else "bench"


def needs(*programs):
    missing = [program for program in programs if shutil.which(program, path=PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed on this machine")


def this_machine(name="here", address="127.0.0.1", **facts):
    """Return this machine as a node, with what its agent would tell of it."""
    report = {"hostname": socket.gethostname(), "agent": {"job_user": USER}, "topology": topology.collect(), **facts}
    return NodeRef(name, address, facts=report)


def carry_out(plan, programs=None, environment=None):
    """Return the outputs of a plan; a background command that is not ready when it ends stops the run."""
    outputs, background = [], []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for stage in plan.stages:
                jobs = [
                    Job(
                        stage,
                        command,
                        pathlib.Path(folder, f"{stage.name}-{index}"),
                        programs or {},
                        environment or {},
                    )
                    for index, command in enumerate(stage.commands)
                ]
                for job in jobs:
                    job.start()
                    if job.command.background:
                        background.append(job)
                        if not job.wait_until_ready():
                            return outputs
                for job in jobs:
                    if not job.command.background:
                        outputs.append(job.finish())
        finally:
            for job in background:
                job.process.terminate()
                outputs.append(job.finish())
    return outputs


class Job:
    """One command of a plan, in its folder."""

    def __init__(self, stage, command, folder, programs, environment):
        self.stage, self.command, self.folder = stage, command, folder
        self.programs, self.environment = programs, environment
        self.text = {"stdout": b"", "stderr": b""}

    def fill(self, word):
        word = re.sub(r"\{program:([^}]+)\}", lambda match: self.find(match[1]), word)
        return word.replace("{work}", str(self.folder))

    def find(self, name):
        return self.programs.get(name) or shutil.which(name, path=PATH) or f"/nonexistent/{name}"

    def start(self):
        self.folder.mkdir()
        for name, text in self.command.files:
            (self.folder / name).write_text(self.fill(text))
        words = [self.fill(word) for word in self.command.argv]
        variables = {name: self.fill(value) for name, value in self.command.environment}
        self.began = time.time()
        self.process = subprocess.Popen(
            [self.programs.get(words[0], words[0]), *words[1:]],
            cwd=self.folder,
            # Each job has a folder for temporary files, too: two of Open MPI's launchers disturb each other in one.
            env={
                **{"LC_ALL": "C", "PATH": PATH, "HOME": str(self.folder), "TMPDIR": str(self.folder)},
                **self.environment,
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.readers = [
            threading.Thread(target=self.read, args=(name, getattr(self.process, name))) for name in self.text
        ]
        for reader in self.readers:
            reader.start()

    def read(self, name, pipe):
        for line in pipe:
            self.text[name] += line

    def wait_until_ready(self):
        if not self.command.ready_pattern:
            return True
        pattern = re.compile(self.command.ready_pattern.encode(), re.MULTILINE)
        for _moment in range(1200):
            ended = self.process.poll() is not None
            if ended:
                for reader in self.readers:
                    reader.join()
            if any(pattern.search(text) for text in self.text.values()):
                return True
            if ended:
                return False
            time.sleep(0.05)
        return False

    def finish(self):
        timed_out = False
        try:
            self.process.wait(self.command.time_limit_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        for reader in self.readers:
            reader.join()
        code = self.process.returncode
        collected = {
            name: (self.folder / name).read_bytes() for name in self.command.collect if (self.folder / name).exists()
        }
        return Output(
            role=self.command.role,
            stage=self.stage.name,
            node="here",
            argv=tuple(self.fill(word) for word in self.command.argv),
            stdout=self.text["stdout"],
            stderr=self.text["stderr"],
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=timed_out,
            started_at=self.began,
            ended_at=time.time(),
            collected=collected,
        )


def measure(slug, nodes, *, programs=None, environment=None, **params):
    """Return the reading and the outputs of a tool run on nodes."""
    tool = tools.get(slug)
    cleaned = tool.clean(params)
    outputs = carry_out(tool.plan(cleaned, {"node": list(nodes)}), programs, environment)
    return tool.parse(outputs, cleaned), outputs
