"""Kernel settings as text: a file to install that outlives a reboot, how to take it back, and what proves it.

Limits are only ever raised: of one whose present value is not known the line asks the kernel before it sets it.
"""

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
    """One node's sysctls as they should be and as they are (None where unknown), and those that were not valid.

    `are_limits` says that no value may be lowered: those of which the present one is not known are asked for first.
    """

    targets: Mapping[str, str]
    present: Mapping[str, str | None]
    invalid: tuple[str, ...] = ()
    are_limits: bool = False

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the limits whose present values are not known."""
        return tuple(key for key in self.targets if self.are_limits and self.present[key] is None)

    @property
    def is_set(self) -> bool:
        """Return whether the node needs no change."""
        return self.targets == self.present


def read_sysctls(evidence: Evidence, role: str) -> Mapping[str, str]:
    """Return the sysctls that a node has told, those of numbers or a plain word: they go into lines people paste."""
    sysctls = evidence.facts.get(role, {}).get("sysctls", {})
    return {
        name: text
        for name, text in sysctls.items()
        if isinstance(text, str) and (_NUMBERS.fullmatch(text) or _WORD.fullmatch(text))
    }


def simple(evidence: Evidence, targets: Mapping[str, str], roles: tuple[str, ...] = ROLES) -> dict[str, Settings]:
    """Return the settings of the roles for values that are the same on each node."""
    sysctls = {role: read_sysctls(evidence, role) for role in roles}
    return {role: Settings(targets, {name: sysctls[role].get(name) for name in targets}) for role in roles}


def lacking(nodes: Mapping[str, Settings], leave_out: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the roles whose nodes lack something: those known to, else those of which not all is known.

    Settings in `leave_out` do not bear on it.
    """
    lacks = {
        role: [
            own.present[key] for key in own.targets if key not in leave_out and own.present[key] != own.targets[key]
        ]
        for role, own in nodes.items()
    }
    return tuple(role for role, values in lacks.items() if any(values)) or tuple(filter(lacks.get, lacks))


def change(nodes: Mapping[str, Settings], name: str, purpose: str) -> str:
    """Return the lines that install ``90-fathom-<name>.conf`` on the nodes that need it and load it."""
    return _blocks({role: _install(own, name, purpose) for role, own in nodes.items() if not own.is_set})


def undo(nodes: Mapping[str, Settings], name: str) -> str:
    """Return the lines that remove the file and put back what is known of the settings before it."""
    return _blocks({role: _remove(own, name) for role, own in nodes.items() if not own.is_set})


def undo_limit(nodes: Mapping[str, Settings]) -> tuple[Message, ...]:
    """Return what is to be said where not all present values are known."""
    unknown = [role for role, settings in nodes.items() if None in settings.present.values()]
    text = _("Not all present values of %(roles)s are known: to take the change back, remove the file and reboot.")
    if all(settings.are_limits for settings in nodes.values()):
        text = _("Not all present values of %(roles)s are known: the lines ask for them first, and lower none.")
    return (Message(text, {"roles": " + ".join(unknown)}),) if unknown else ()


def proof(nodes: Mapping[str, Settings], parameters: Mapping[str, object], leave_out: tuple[str, ...] = ()) -> Proof:
    """Return the comparison of one TCP measurement with the settings as they are and as they should be.

    Settings in `leave_out` do not bear on it; one whose present value is unknown is left as it is (blank), and a
    limit of which nothing is known stays out of it: it may be larger than what would be set.
    """
    now, then = dict(parameters), dict(parameters)
    for role, settings in nodes.items():
        for key, value in settings.targets.items():
            if key not in (*leave_out, *settings.unknown) and settings.present[key] != value:
                now[setting_names.name_of(role, key)] = settings.present[key] or ""
                then[setting_names.name_of(role, key)] = value
    return Proof("iperf3-tcp", "goodput", now, then)


def _install(settings: Settings, name: str, purpose: str) -> list[str]:
    path, unknown = f"{FOLDER}/90-fathom-{name}.conf", settings.unknown
    # No blanks around "=": the same lines then serve `sysctl -w`, which takes blanks for words of their own.
    pairs = [f"{key}={value}" for key, value in settings.targets.items() if key not in unknown]
    lines = [f"cat > {path} <<'END'", f"# {purpose}", *pairs, "END"]
    if unknown:
        before = _before(name)
        lines = [f"[ -e {before} ] || sysctl {' '.join(unknown)} > {before}", *lines]
        lines += [_raise(key, settings.targets[key].split(), path) for key in unknown]
    return [*lines, f"sysctl -p {path}"]


def _raise(key: str, numbers: list[str], path: str) -> str:
    """Return a line of shell that adds a limit to the file if it is less now; of three numbers the largest counts."""
    fields = "".join(f"${place} " for place in range(1, len(numbers)))
    test = f'[ "${len(numbers)}" -ge {numbers[-1]} ]'
    return f'set -- $(sysctl -n {key}); {test} || echo "{key}={fields}{numbers[-1]}" >> {path}'


def _before(name: str) -> str:
    """Return the file that holds what was set before a change, as the kernel told it."""
    # Only files that end on .conf are read at boot.
    return f"{FOLDER}/90-fathom-{name}.before"


def _remove(settings: Settings, name: str) -> list[str]:
    values = {key: value for key, value in settings.present.items() if value is not None}
    lines = [
        f"rm -f {FOLDER}/90-fathom-{name}.conf",
        *(f"sysctl -w '{key}={value}'" for key, value in values.items()),
    ]
    return [*lines, f"sysctl -p {_before(name)} && rm {_before(name)}"] if settings.unknown else lines


def _blocks(lines: Mapping[str, list[str]]) -> str:
    """Return the lines of each role under its name, or once if all are equal; "" for none."""
    if not lines:
        return ""
    if len({tuple(block) for block in lines.values()}) == 1:
        lines = {" + ".join(lines): next(iter(lines.values()))}
    return "\n".join("\n".join((f"# {role}", *block)) for role, block in lines.items()) + "\n"
