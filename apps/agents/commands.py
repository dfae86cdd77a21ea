"""The commands that a person pastes on a node: to make an agent of it, and to bring its agent up to date."""

import hashlib
import ipaddress
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

from apps.agents import program
from apps.bench import strict_json
from apps.core import certificates
from apps.testbeds.models import Node, NodeAddress


@dataclass(frozen=True)
class Commands:
    """The same thing with curl, and with nothing but Python."""

    curl: str
    python: str


def server_address(request: HttpRequest | Request) -> str:
    """Return the address agents are to call: PUBLIC_URL, else the one this request came to."""
    return settings.PUBLIC_URL.rstrip("/") or request.build_absolute_uri("/").rstrip("/")


def update_of(server: str, node: Node) -> str:
    """Return the commands that put the service's program in the place of an earlier one, and start that."""
    return (
        f"{_fetch(server)} &&\n"
        f"install -D -m 755 {program.NAME} {program.PLACES['program']} &&\n"
        f"{restart_of(node).splitlines()[0]}"
    )


def restart_of(node: Node) -> str:
    """Return the commands that start a node's agent again: where systemd looks after it, and by hand."""
    folder = folder_of(node)
    unit, place = (_unit_name(node), f" --dir {folder}") if folder else (program.UNIT, "")
    return f"systemctl restart {unit}\npython3 {program.NAME} status{place}; python3 {program.NAME} run{place}"


def of(server: str, token: str, node: Node) -> Commands:
    """Return the commands that fetch the program, check its bytes, enrol it with the token, and start it.

    They name the node, for the program overwrites no other's identity, and carry `folder_of` the node.

    With the service's own certificate in the settings they carry its pin; where the address is plain HTTP of another
    machine they say so.
    """
    name, pin = program.NAME, server_pin() if server.startswith("https:") else ""
    words = ["python3", name, "enrol", "--server", server, "--token", token, "--node", node.name]
    words += ["--pin", pin] if pin else []
    words += ["--insecure"] if is_insecure(server) else []
    folder = folder_of(node)
    # Not quoted: the shell is to put the home in the place of ~, and names of nodes need no quotes.
    place = f" --dir {folder}" if folder else ""
    then = f"{shlex.join(words)}{place} && python3 {name} run{place}"
    return Commands(curl=f"{_fetch(server)} && {then}", python=f"{_fetch_by_python(server)} && {then}")


def folder_of(node: Node) -> str:
    """Return the folder for the agent of a node that shares its machine with others, "" where the usual one will do.

    It does where one of its addresses is this machine's own (loopback), or another node's of the team.
    """
    addresses = list(node.addresses.values_list("address", flat=True))
    others = NodeAddress.objects.filter(node__team=node.team_id, address__in=addresses).exclude(node=node)
    is_shared = any(_is_loopback(address) for address in addresses) or others.exists()
    return f"~/{program.FOLDER}-{node.name}" if is_shared else ""


def unit_of(folder: str, node: Node) -> str:
    """Return the commands that keep the agent of `folder_of` running after a reboot.

    The program, whose bytes were checked, writes its unit: what is fetched besides nobody checks.
    """
    unit, place = (_unit_name(node), f" --dir {folder}") if folder else (program.UNIT, "")
    return (
        f"install -D -m 755 {program.NAME} {program.PLACES['program']}\n"
        f"python3 {program.PLACES['program']} unit{place} > /etc/systemd/system/{unit}\n"
        f"systemctl enable --now {unit}"
    )


def is_insecure(server: str) -> bool:
    """Say whether agents on other machines would call the address unencrypted."""
    parts = urlsplit(server)
    if parts.scheme != "http":
        return False
    return not _is_loopback(parts.hostname or "")


def server_pin() -> str:
    """Return the SHA-256 of the certificate that agents are to expect, "" where any verified one will do."""
    if not settings.AGENT_SERVER_CERTIFICATE:
        return ""
    pem = Path(settings.AGENT_SERVER_CERTIFICATE).read_text(encoding="ascii")
    return hashlib.sha256(certificates.first_of(pem)).hexdigest()


def _unit_name(node: Node) -> str:
    return f"{program.FOLDER}-{node.name}.service"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fetch(server: str) -> str:
    """Return what fetches the program with curl; its checksum makes up for a certificate that curl cannot verify."""
    options = "-fsSko" if server_pin() else "-fsSo"
    check = f'echo "{program.current().sha256}  {program.NAME}" | sha256sum -c - >/dev/null'
    return f"curl {options} {program.NAME} {shlex.quote(server + reverse('agents:program'))} && {check}"


def _fetch_by_python(server: str) -> str:
    context = ", context=ssl._create_unverified_context()" if server_pin() else ""
    code = (
        "import hashlib, ssl, sys, urllib.request as web; "
        f"data = web.urlopen({strict_json.dumps(server + reverse('agents:program'))}{context}).read(); "
        f"hashlib.sha256(data).hexdigest() == {strict_json.dumps(program.current().sha256)} "
        "or sys.exit('This is not the program that the page shows: make the command again.'); "
        f"open({strict_json.dumps(program.NAME)}, 'wb').write(data)"
    )
    return f"python3 -c {shlex.quote(code)}"
