"""Carry plans out on this machine as executor and agents do: folders, files, variables, collected files, stages."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from apps.bench.toolkit import Output

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
# A background command that is not ready by then never will be.
PATIENCE_S = 10
GRACE_S = 5
_AS_NOBODY = ("--reuid=nobody", "--regid=nogroup", "--clear-groups", "--")


def job_user():
    """Return the options that let a command run as agents of root let it: as nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class Job:
    """One command of a plan in a work folder of its own."""

    def __init__(self, stage, command, node, folder, prefix=()):
        self.stage, self.command, self.node, self.folder = stage, command, node, folder
        folder.mkdir()
        for name, text in command.files:
            (folder / name).write_text(self.filled(text))
        options = job_user()
        if options:
            for path in (folder, *folder.iterdir()):
                os.chown(path, options["user"], options["group"])
        environment = {"LC_ALL": "C", "PATH": PATH, "HOME": str(folder), "TMPDIR": str(folder)}
        environment |= dict(command.environment)
        self.started_at = time.time()
        argv = [self.filled(word) for word in command.argv]
        if prefix:
            # To enter a place takes the right of root, which is laid down there.
            argv = [*prefix, *(("setpriv", *_AS_NOBODY) if options else ()), *argv]
            options = {}
        self.process = subprocess.Popen(
            argv, cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip
        self.printed = {"stdout": b"", "stderr": b""}
        self.readers = [threading.Thread(target=self._listen, args=[name]) for name in self.printed]
        for reader in self.readers:
            reader.start()

    def filled(self, text):
        return text.replace("{work}", str(self.folder))

    def _listen(self, name):
        pipe = getattr(self.process, name)
        while chunk := os.read(pipe.fileno(), 65536):
            self.printed[name] += chunk

    def wait_until_ready(self):
        pattern = re.compile(self.command.ready_pattern.encode(), re.MULTILINE)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if any(pattern.search(text) for text in self.printed.values()):
                return True
            if self.process.poll() is not None and not any(reader.is_alive() for reader in self.readers):
                return any(pattern.search(text) for text in self.printed.values())
            time.sleep(0.01)
        return False

    def end(self, limit_s=None):
        """Wait for the command's own end, or stop its group now, and return its output."""
        timed_out = False
        if limit_s is None:
            self._signal(signal.SIGTERM)
        try:
            self.process.wait(limit_s or GRACE_S)
        except subprocess.TimeoutExpired:
            timed_out = limit_s is not None
            self._signal(signal.SIGKILL)
            self.process.wait()
        ended_at = time.time()
        self._signal(signal.SIGKILL)
        for reader in self.readers:
            reader.join()
        paths = {name: (self.folder / name) for name in self.command.collect}
        code = self.process.returncode
        return Output(
            role=self.command.role,
            stage=self.stage.name,
            node=self.node.name,
            argv=tuple(self.filled(word) for word in self.command.argv),
            stdout=self.printed["stdout"],
            stderr=self.printed["stderr"],
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=timed_out,
            started_at=self.started_at,
            ended_at=ended_at,
            collected={name: path.read_bytes() for name, path in paths.items() if path.exists()},
        )

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def let_through(folder: Path):
    """Let others pass through pytest's folders, as they may through an agent's."""
    for parent in (folder, *folder.parents) if job_user() else ():
        if parent.stat().st_mode & 0o001 == 0:
            parent.chmod(0o711)


def carry_out(plan, nodes, folder: Path, disturb=None, after_s=0.5, inside=None):
    """Carry a plan out and return the outputs in the order of the commands.

    `inside` {node's name: words before its commands} says where the nodes are, if not all on this machine itself.

    `disturb` gets the jobs under way `after_s` after the first measuring command has begun.
    """
    jobs, outputs = [], {}
    let_through(folder)
    timer = None
    try:
        is_stopped = False
        for stage in plan.stages:
            if is_stopped and not stage.cleans_up_after:
                continue
            if stage.together:
                outputs |= run_together(stage, nodes, folder, jobs)
                continue
            for command in stage.commands:
                node = nodes[command.role][command.node_index]
                job = Job(stage, command, node, folder / f"job{len(jobs)}", (inside or {}).get(node.name, ()))
                jobs.append(job)
                if command.background:
                    if not job.wait_until_ready():
                        is_stopped = True
                        break
                    continue
                if disturb and command.measures:
                    timer = threading.Timer(after_s, disturb, [jobs])
                    timer.start()
                outputs[job] = job.end(command.time_limit_s)
    finally:
        if timer:
            timer.cancel()
        for job in jobs:
            outputs.setdefault(job, None)
            if outputs[job] is None:
                outputs[job] = job.end()
    return [outputs[job] for job in jobs]


def run_together(stage, nodes, folder, jobs):
    """Start the commands of a stage at one time, add their jobs to `jobs`, and return {job: output} of their ends."""
    outputs = {}
    begun = []
    for command in stage.commands:
        node = nodes[command.role][command.node_index]
        begun.append(Job(stage, command, node, folder / f"job{len(jobs) + len(begun)}"))
    jobs += begun

    def wait(job):
        outputs[job] = job.end(job.command.time_limit_s)

    waiting = [threading.Thread(target=wait, args=[job]) for job in begun]
    for thread in waiting:
        thread.start()
    for thread in waiting:
        thread.join()
    return outputs


def installed(*programs):
    """Return whether all programs are installed here."""
    return all(shutil.which(program, path=PATH) for program in programs)
