"""Kernel settings as text: a file to install that outlives a reboot, how to take it back, and what proves it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from apps.bench.rules.base import Evidence, Proof
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _

ROLES = ("client", "server")
FOLDER = "/etc/sysctl.d"
_NUMBERS = re.compile(r"[0-9]{1,15}( [0-9]{1,15}){0,2}")
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,14}")
KEPT = _("systemd-sysctl reads the file again at each boot; sysctl --system does so now.")


@dataclass(frozen=True)
class Settings:
    """One node's sysctls as they should be and as they are (None where unknown), and those that were not valid."""

    wanted: Mapping[str, str]
    present: Mapping[str, str | None]
    invalid: tuple[str, ...] = ()

    @property
    def is_set(self) -> bool:
        """Return whether the node needs no change."""
        return self.wanted == self.present


def read_sysctls(evidence: Evidence, role: str) -> Mapping[str, str]:
    """Return the sysctls that a node has told, those of numbers or a plain word: they go into lines people paste."""
    sysctls = evidence.facts.get(role, {}).get("sysctls", {})
    return {
        name: text
        for name, text in sysctls.items()
        if isinstance(text, str) and (_NUMBERS.fullmatch(text) or _WORD.fullmatch(text))
    }


def simple(evidence: Evidence, wanted: Mapping[str, str], roles: tuple[str, ...] = ROLES) -> dict[str, Settings]:
    """Return the settings of the roles for values that are the same on each node."""
    told = {role: read_sysctls(evidence, role) for role in roles}
    return {role: Settings(wanted, {name: told[role].get(name) for name in wanted}) for role in roles}


def change(nodes: Mapping[str, Settings], name: str, purpose: str) -> str:
    """Return the lines that install ``90-fathom-<name>.conf`` on the nodes and load it; "" for no change."""
    if all(settings.is_set for settings in nodes.values()):
        return ""
    return _blocks({role: _install(settings, name, purpose) for role, settings in nodes.items()})


def undo(nodes: Mapping[str, Settings], name: str) -> str:
    """Return the lines that remove the file and put back what is known of the settings before it."""
    if all(settings.is_set for settings in nodes.values()):
        return ""
    return _blocks({role: _remove(settings, name) for role, settings in nodes.items()})


def undo_limit(nodes: Mapping[str, Settings]) -> tuple[Message, ...]:
    """Return what is to be said where not all present values are known."""
    unknown = [role for role, settings in nodes.items() if None in settings.present.values()]
    text = _("Not all present values of %(roles)s are known: to take the change back, remove the file and reboot.")
    return (Message(text, {"roles": " + ".join(unknown)}),) if unknown else ()


def proof(nodes: Mapping[str, Settings], parameters: Mapping[str, object], leave_out: tuple[str, ...] = ()) -> Proof:
    """Return the comparison of one TCP measurement with the settings as they are and as they should be.

    Settings in `leave_out` do not bear on it; one whose present value is unknown is left as it is (blank).
    """
    now, then = dict(parameters), dict(parameters)
    for role, settings in nodes.items():
        for key, value in settings.wanted.items():
            if key not in leave_out and settings.present[key] != value:
                now[setting_names.name_of(role, key)] = settings.present[key] or ""
                then[setting_names.name_of(role, key)] = value
    return Proof("iperf3-tcp", "goodput", now, then)


def _install(settings: Settings, name: str, purpose: str) -> list[str]:
    path = f"{FOLDER}/90-fathom-{name}.conf"
    # No blanks around "=": the same lines then serve `sysctl -w`, which takes blanks for words of their own.
    pairs = [f"{key}={value}" for key, value in settings.wanted.items()]
    return [f"cat > {path} <<'END'", f"# {purpose}", *pairs, "END", f"sysctl -p {path}"]


def _remove(settings: Settings, name: str) -> list[str]:
    known = {key: value for key, value in settings.present.items() if value is not None}
    return [f"rm -f {FOLDER}/90-fathom-{name}.conf", *(f"sysctl -w '{key}={value}'" for key, value in known.items())]


def _blocks(lines: Mapping[str, list[str]]) -> str:
    """Return the lines of each role under its name, or once if all are equal."""
    if len({tuple(block) for block in lines.values()}) == 1:
        lines = {" + ".join(lines): next(iter(lines.values()))}
    return "\n".join("\n".join((f"# {role}", *block)) for role, block in lines.items()) + "\n"
