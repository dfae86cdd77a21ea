"""The commands that a person pastes on a node: to make an agent of it, and to bring its agent up to date."""

import hashlib
import ipaddress
import json
import shlex
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

from apps.agents import program

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


@dataclass(frozen=True)
class Commands:
    """The same thing with curl, and with nothing but Python."""

    curl: str
    python: str


def server_address(request: HttpRequest | Request) -> str:
    """Return the address agents are to call: PUBLIC_URL, else the one this request came to."""
    return settings.PUBLIC_URL.rstrip("/") or request.build_absolute_uri("/").rstrip("/")


def update_of(server: str) -> str:
    """Return the commands that put the service's program in the place of an earlier one, and start that."""
    return (
        f"{_fetch(server)} &&\n"
        f"install -D -m 755 {program.NAME} {program.PLACES['program']} &&\n"
        f"systemctl restart {program.UNIT}"
    )


def of(server: str, token: str) -> Commands:
    """Return the commands that fetch the program, check its bytes, enrol it with the token, and start it.

    With the service's own certificate in the settings they carry its pin; where the address is plain HTTP of another
    machine they say so.
    """
    name, pin = program.NAME, server_pin() if server.startswith("https:") else ""
    words = ["python3", name, "enrol", "--server", server, "--token", token]
    words += ["--pin", pin] if pin else []
    words += ["--insecure"] if is_insecure(server) else []
    then = f"{shlex.join(words)} && python3 {name} run"
    return Commands(curl=f"{_fetch(server)} && {then}", python=f"{_fetch_by_python(server)} && {then}")


def is_insecure(server: str) -> bool:
    """Say whether agents on other machines would call the address unencrypted."""
    parts = urlsplit(server)
    if parts.scheme != "http":
        return False
    try:
        return not ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname != "localhost"


def server_pin() -> str:
    """Return the SHA-256 of the certificate that agents are to expect, "" where any verified one will do."""
    if not settings.AGENT_SERVER_CERTIFICATE:
        return ""
    pem = Path(settings.AGENT_SERVER_CERTIFICATE).read_text(encoding="ascii")
    # The first one of a chain is the server's own.
    first = pem[pem.index(_BEGIN) : pem.index(_END) + len(_END)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()


def _fetch(server: str) -> str:
    """Return what fetches the program with curl; its checksum makes up for a certificate that curl cannot verify."""
    options = "-fsSko" if server_pin() else "-fsSo"
    check = f'echo "{program.current().sha256}  {program.NAME}" | sha256sum -c - >/dev/null'
    return f"curl {options} {program.NAME} {shlex.quote(server + reverse('agents:program'))} && {check}"


def _fetch_by_python(server: str) -> str:
    context = ", context=ssl._create_unverified_context()" if server_pin() else ""
    code = (
        "import hashlib, ssl, sys, urllib.request as web; "
        f"data = web.urlopen({json.dumps(server + reverse('agents:program'))}{context}).read(); "
        f"hashlib.sha256(data).hexdigest() == {json.dumps(program.current().sha256)} "
        "or sys.exit('This is not the program that the page shows: make the command again.'); "
        f"open({json.dumps(program.NAME)}, 'wb').write(data)"
    )
    return f"python3 -c {shlex.quote(code)}"
