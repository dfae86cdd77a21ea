"""How an agent reaches its server: encrypted, the right one, and by way of a proxy."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import commands, program, services
from apps.agents.models import Agent
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.relays import Proxy, TlsServer
from tests.agent.states import ended, printed
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent.remote import Away, Remote
from workers.agent.transport import proxy_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tls(home: Path, server: LiveServer) -> Iterator[TlsServer]:
    relay = TlsServer(home, server.port)
    yield relay
    relay.close()


@pytest.fixture
def other(home: Path, server: LiveServer) -> Iterator[TlsServer]:
    """Somebody else in the server's place, with a certificate of the same name."""
    (home / "other").mkdir()
    relay = TlsServer(home / "other", server.port)
    yield relay
    relay.close()


def enrol(
    agent: AgentProgram, node: Node, url: str, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    command = ("enrol", "--server", url, "--token", issued.text, "--dir", str(agent.folder), *words)
    # One folder is tried with one server after the other.
    command += ("--node", node.name, "--replace")
    return agent.call(*command, env={**os.environ, **variables})


@pytest.fixture
def bare(home: Path, server: LiveServer) -> Iterator[AgentProgram]:
    """A program that is enrolled nowhere."""
    agent = AgentProgram(home, server)
    yield agent
    if agent.process is not None:
        agent.stop()


@pytest.mark.parametrize("url", ["http://192.0.2.1:8000", "http://fathom.example.org", "http://[2001:db8::1]"])
def test_plain_http_does_not_leave_the_machine_unless_it_is_told_so(bare: AgentProgram, node: Node, url: str) -> None:
    done = enrol(bare, node, url)
    assert done.returncode == 1
    assert "is not encrypted" in done.stderr
    assert "--insecure" in done.stderr


def test_it_is_told_so_by_insecure_and_remembers(idle_agent: AgentProgram, node: Node) -> None:
    tools.configure(idle_agent.folder, server="http://192.0.2.1:8000")
    done = idle_agent.call("run", "--dir", str(idle_agent.folder))
    assert (done.returncode, "is not encrypted" in done.stderr) == (1, True)
    tools.configure(idle_agent.folder, insecure=True)
    idle_agent.start()
    wait_for(lambda: idle_agent.said("calls http://192.0.2.1:8000"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"])
def test_plain_http_within_the_machine_needs_no_word(url: str) -> None:
    with pytest.raises(Away):
        Remote(url).call("clock", timeout_s=1.0)


def test_a_certificate_that_nobody_signed_is_refused(bare: AgentProgram, node: Node, tls: TlsServer) -> None:
    done = enrol(bare, node, f"https://127.0.0.1:{tls.port}")
    assert done.returncode == 1
    assert "CERTIFICATE_VERIFY_FAILED" in done.stderr


def test_an_agent_works_with_a_pinned_server_and_no_other(
    bare: AgentProgram, node: Node, tls: TlsServer, other: TlsServer
) -> None:
    done = enrol(bare, node, f"https://127.0.0.1:{tls.port}", "--pin", tls.pin.upper())
    assert done.returncode == 0, done.stderr
    tools.install(bare.home, bare.folder)
    bare.start()
    assert printed(ended(factories.job(node, "say", "pinned")))["stdout"] == "out: pinned\n"
    bare.stop()
    tools.configure(bare.folder, server=f"https://127.0.0.1:{other.port}")
    bare.start()
    wait_for(lambda: bare.said("certificate is not the one of this agent's pin"))


def test_a_file_of_certificates_is_enough_and_holds_for_the_name(
    bare: AgentProgram, node: Node, tls: TlsServer
) -> None:
    done = enrol(bare, node, f"https://127.0.0.1:{tls.port}", "--ca-file", str(tls.certificate))
    assert "certificate is not valid for '127.0.0.1'" in done.stderr


def test_an_agent_works_through_a_proxy(bare: AgentProgram, node: Node, tls: TlsServer) -> None:
    proxy = Proxy({"fathom.test:443": tls.port})
    variables = {"https_proxy": f"http://me:p%40ss@127.0.0.1:{proxy.port}", "no_proxy": "elsewhere.test"}
    done = enrol(bare, node, "https://fathom.test", "--ca-file", str(tls.certificate), **variables)
    assert done.returncode == 0, done.stderr
    assert proxy.asked[0][0].startswith("CONNECT fathom.test:443 ")
    assert "Proxy-Authorization: Basic bWU6cEBzcw==" in proxy.asked[0]
    done = enrol(bare, factories.node(), "https://fathom.test", **{**variables, "no_proxy": ".test"})
    assert done.returncode == 1
    assert len(proxy.asked) == 1
    proxy.close()


def test_a_proxy_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://x")
    with pytest.raises(ValueError, match="https_proxy is socks5://x"):
        proxy_for("fathom.test")
    monkeypatch.setenv("https_proxy", "proxy.test:3128")
    proxy = proxy_for("fathom.test")
    assert proxy is not None
    assert (proxy.hostname, proxy.port) == ("proxy.test", 3128)


@pytest.mark.parametrize("variant", ["curl", "python"])
def test_what_is_pasted_checks_the_program_and_pins_the_server(
    node: Node, home: Path, tls: TlsServer, settings: object, variant: str
) -> None:
    settings.AGENT_SERVER_CERTIFICATE = str(tls.certificate)
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    made = getattr(commands.of(f"https://127.0.0.1:{tls.port}", issued.text, node), variant)
    assert program.current().sha256 in made
    assert f"--pin {tls.pin}" in made
    command = made.replace("fathom-agent.pyz run", "fathom-agent.pyz status")
    environment = {**os.environ, "FATHOM_AGENT_DIR": str(home / "pasted")}
    options = {"cwd": home, "env": environment, "capture_output": True, "text": True, "timeout": 60}
    spoilt = command.replace(program.current().sha256, "0" * 64)
    done = subprocess.run(["/bin/sh", "-c", spoilt], check=False, **options)
    assert done.returncode
    assert not (home / "pasted").exists()
    done = subprocess.run(["/bin/sh", "-c", command], check=False, **options)
    assert Agent.objects.filter(node=node).exists(), done.stderr


def test_what_is_pasted_says_insecure_only_where_it_is(node: Node, settings: object) -> None:
    assert "--insecure" in commands.of("http://192.0.2.1:8000", "t", node).curl
    for url in ("http://127.0.0.1:8000", "http://localhost", "https://fathom.example.org"):
        assert "--insecure" not in commands.of(url, "t", node).curl
        assert "--pin" not in commands.of(url, "t", node).python
