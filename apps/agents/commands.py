"""The commands that a person pastes on a node: to make an agent of it, and to bring its agent up to date."""

import json
import shlex
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

from apps.agents import program


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
    address = server + reverse("agents:program")
    return (
        f"curl -fsSo {program.NAME} {shlex.quote(address)}\n"
        f"install -D -m 755 {program.NAME} {program.PLACES['program']}\n"
        f"systemctl restart {program.UNIT}"
    )


def of(server: str, token: str) -> Commands:
    """Return the commands that fetch the program, enrol it with the token, and start it."""
    address = server + reverse("agents:program")
    name = program.NAME
    then = f"python3 {name} enrol --server {shlex.quote(server)} --token {shlex.quote(token)} && python3 {name} run"
    fetch = f"import urllib.request as web; web.urlretrieve({json.dumps(address)}, {json.dumps(name)})"
    return Commands(
        curl=f"curl -fsSo {name} {shlex.quote(address)} && {then}",
        python=f"python3 -c {shlex.quote(fetch)} && {then}",
    )
