"""A node in a network namespace of its own, whose kernel settings may be changed, and jobs that change them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Job, Listener
from apps.bench import settings as bench
from apps.testbeds.models import Node, NodeAddress
from tests import interfaces
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import reached
from tests.agents import factories
from tests.agents.live import LiveServer

# What uses it: one after the other, with the rights and programs that it takes.
MARKS = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.lab,
    pytest.mark.xdist_group("settings"),
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"),
        reason="setting the kernel's settings needs root and iproute2",
    ),
]
HERE, THERE = "10.98.7.1", "10.98.7.2"


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=20).stdout


class Namespace:
    """A network namespace joined to this machine by one cable, whose settings are its own."""

    def __init__(self) -> None:
        self.name = f"fathom-settings-{os.getpid()}"
        self.cable = f"fs{os.getpid() % 10**6}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.cable, "type", "veth", "peer", "name", "data", "netns", self.name)
        run("ip", "address", "add", f"{HERE}/30", "dev", self.cable)
        run("ip", "link", "set", self.cable, "up", "mtu", "9000")
        self.inside("ip", "address", "add", f"{THERE}/30", "dev", "data")
        self.inside("ip", "link", "set", "data", "up", "mtu", "1500")
        self.inside("ip", "link", "set", "lo", "up")

    @property
    def prefix(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.name)

    def inside(self, *words: str) -> str:
        return run(*self.prefix, *words)

    def sysctl(self, key: str) -> str:
        return " ".join(self.inside("cat", "/proc/sys/" + key.replace(".", "/")).split())

    def mtu(self) -> int:
        return int(json.loads(self.inside("ip", "-j", "link", "show", "dev", "data"))[0]["mtu"])

    def qdisc(self) -> str:
        return self.inside("tc", "qdisc", "show", "dev", "data").split()[1]

    def remove(self) -> None:
        run("ip", "netns", "delete", self.name)


@pytest.fixture(scope="module")
def namespace() -> Iterator[Namespace]:
    with interfaces.held():
        space = Namespace()
    yield space
    with interfaces.held():
        space.remove()


@pytest.fixture(scope="module")
def server_process(
    namespace: Namespace, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """The server of these tests listens where the namespace's cable ends."""
    server = LiveServer(tmp_path_factory.mktemp("settings") / "log", HERE)
    yield server
    server.stop()
    # It notes that it listens also after the last test's rows are gone.
    with django_db_blocker.unblock():
        Listener.objects.all().delete()


@pytest.fixture
def program(home: Path, namespace: Namespace, node: Node, server: LiveServer) -> Iterator[AgentProgram]:
    """An agent at work in the namespace, which lets jobs change TCP's settings, the MTU and the queue discipline."""
    NodeAddress.objects.create(node=node, address=THERE, confirmed_at=timezone.now())
    agent = AgentProgram(home, server, namespace.prefix)
    agent.enrol(node)
    tools.install(home, agent.folder)
    path = agent.folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "settings": ["net.ipv4.tcp_*", "mtu", "qdisc"]}))
    agent.start()
    yield agent
    if agent.process is not None:
        agent.stop()
    print(agent.log.read_text())


def ask(node: Node, run_ref: int = 51, **settings: str) -> Job:
    """Queue what a plan asks of an agent: the stage of apps.bench.settings, with _ for the dots of the keys."""
    values = {key.replace("__", "."): value for key, value in settings.items()}
    (command,) = bench.stage({"client": [values]}).commands
    return factories.job(
        node, *command.argv, background=True, ready_pattern=command.ready_pattern, files=command.files,
        time_limit_s=command.time_limit_s, run_ref=run_ref,
    )  # fmt: skip


def held(node: Node, **settings: str) -> Job:
    return reached(ask(node, **settings), Job.State.READY)


def journals(program: AgentProgram) -> list[Path]:
    return list((program.folder / "settings").glob("*"))


def stop(run_ref: int = 51) -> None:
    services.request_stop(run_ref=run_ref, now=timezone.now())
