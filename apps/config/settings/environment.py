"""Reads settings of the environment; whatever is wrong is named, all of it at once, before anything starts.

Blanks around a value, and the case of a word, mean nothing. An empty value is the usual one.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from apps.core import certificates

_T = TypeVar("_T")
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_NUMBER = re.compile(r"[0-9]{1,9}")
# As Django takes them: a name (with a dot before it: all below it), an address, or all of them.
_HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")
_DECIMAL = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


class Environment:
    """The variables that settings are read from, and what is wrong with them."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.wrong: list[str] = []

    def text(self, name: str, usual: str = "") -> str:
        """Return a value without the blanks around it."""
        return self._variables.get(name, "").strip() or usual

    def read(self, name: str, usual: str, reader: Callable[[str], _T]) -> _T:
        """Return what `reader` makes of a value; it refuses one by a ValueError that says what to give."""
        try:
            return reader(self.text(name, usual))
        except ValueError as error:
            return self._refuse(name, str(error), reader(usual))

    def number(self, name: str, usual: int, least: int = 0, most: int = 999_999_999) -> int:
        """Return a whole number."""
        text = self.text(name, str(usual))
        if _NUMBER.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        upto = f"from {least} to {most}" if most < 999_999_999 else f"{least} or more"
        return self._refuse(name, f"give a whole number, {upto}", usual)

    def seconds(self, name: str, usual: float) -> float:
        """Return a time (s)."""
        text = self.text(name, str(usual))
        return float(text) if _DECIMAL.fullmatch(text) else self._refuse(name, "give seconds, such as 0.2", usual)

    def flag(self, name: str, *, usual: bool = False) -> bool:
        """Return whether something is switched on."""
        text = self.text(name, "1" if usual else "0").lower()
        return text in _ON if text in (*_ON, *_OFF) else self._refuse(name, "give 1 or 0", usual=usual)

    def choice(self, name: str, *choices: str) -> str:
        """Return one of the choices, "" for none."""
        text = self.text(name).lower()
        return text if text in ("", *choices) else self._refuse(name, f"give {' or '.join(choices)}, or nothing", "")

    def networks(self, name: str, usual: str = "") -> list[str]:
        """Return the addresses and networks that stand between commas."""
        parts = self.names(name, usual)
        try:
            return [str(ipaddress.ip_network(part, strict=False)) for part in parts]
        except ValueError:
            return self._refuse(name, "give addresses or networks, such as 10.0.0.7, 10.1.0.0/16", [])

    def names(self, name: str, usual: str = "") -> list[str]:
        """Return what stands between commas."""
        return [part.strip() for part in self.text(name, usual).split(",") if part.strip()]

    def address(self, name: str, *schemes: str, usual: str = "") -> str:
        """Return an address of one of the schemes."""
        text = self.text(name, usual)
        if not text or _is_address(text, schemes):
            return text
        return self._refuse(
            name, f"give an address that begins with {'://, '.join(schemes[:-1])}:// or {schemes[-1]}://", usual
        )

    def origins(self, name: str) -> list[str]:
        """Return addresses of pages, between commas."""
        origins = self.names(name)
        if all(_is_address(origin, ("http", "https")) for origin in origins):
            return origins
        return self._refuse(name, "give addresses such as https://fathom.example.org, parted by commas", [])

    def file(self, name: str) -> str:
        """Return the path of a file that can be read."""
        text = self.text(name)
        try:
            if text:
                Path(text).open("rb").close()
        except OSError as error:
            return self._refuse(name, f"the file cannot be read ({error.strerror})", "")
        return text

    def certificate(self, name: str) -> str:
        """Return the path of a file that begins with a certificate in PEM, or has one behind its own key."""
        path = self.file(name)
        try:
            if path:
                certificates.first_of(Path(path).read_text(encoding="ascii"))
        except ValueError:
            return self._refuse(name, "the file holds no certificate in PEM (-----BEGIN CERTIFICATE-----)", "")
        return path

    def hosts(self, name: str, usual: str) -> list[str]:
        """Return names and addresses of this service, between commas."""
        hosts = self.names(name, usual)
        if all(_HOST.fullmatch(host) for host in hosts):
            return hosts
        return self._refuse(name, "give names without http:// and port, such as fathom.example.org", usual.split(","))

    def check(self) -> None:
        """Raise ImproperlyConfigured, which names all that is wrong, a line each, if anything is."""
        # Django imports settings again that could not be imported, and what they begin with is kept.
        wrong, self.wrong = self.wrong, []
        if wrong:
            raise ImproperlyConfigured("\n".join(wrong))

    def _refuse(self, name: str, remedy: str, usual: _T) -> _T:
        # A password within an address is nobody's to read.
        value = re.sub(r"//[^/]*@", "//***@", self._variables.get(name, ""))
        self.wrong.append(f"{name}={value}: {remedy}.")
        return usual


def broker_of(text: str) -> str:
    """Return the address of a broker; ValueError says what to give."""
    remedy = "give an address such as redis://localhost:6379/0, rediss://… or unix:///run/redis.sock?db=0"
    if not _is_address(text, ("redis", "rediss", "unix")):
        raise ValueError(remedy)
    parts = urlsplit(text)
    number = parse_qs(parts.query).get("db", ["0"])[-1]
    path = "" if parts.scheme == "unix" else parts.path.strip("/")
    if not number.isdecimal() or not (path == "" or path.isdecimal()):
        raise ValueError(f"{remedy}; the database is a number")
    return text


def sender_of(text: str) -> str:
    """Return the address that mails come from, with a name or without; ValueError says what to give."""
    address = parseaddr(text)[1]
    try:
        validate_email(address)
    except ValidationError:
        raise ValueError("give an address such as fathom@example.org, or Fathom <fathom@example.org>") from None
    return text


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
        # A port that is no number is found only when it is asked for.
        _port = parts.port
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.netloc or parts.path)
