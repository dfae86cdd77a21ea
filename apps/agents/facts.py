"""What agents may say of their nodes: known facts in the form that pages and rules rely on, others as they are."""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

MOST_LEVELS = 16
# Of one text among the facts.
LONGEST_TEXT = 10_000
# Of a host's name and of an address: no system has a longer one, and it is kept as a name (archive.FormerName).
LONGEST_NAME = 255
# Interfaces of one node, and addresses of all of them: as many names of a node are kept.
MOST_INTERFACES = MOST_ADDRESSES = 2048
# Of one list or table on a page.
MOST_SHOWN = 200
_LARGEST = 2**63


class WrongFactError(ValueError):
    """A fact that is not in its form; the text says which, and what it must be."""


def checked_facts(facts: object) -> dict[str, Any]:
    """Return facts that PostgreSQL can keep and pages can show; WrongFactError names the fact that is wrong."""
    if not isinstance(facts, dict):
        raise _wrong("facts", "an object")
    plain_facts = _storable(facts, MOST_LEVELS)
    for name, check in _KNOWN.items():
        if name in plain_facts:
            check(name, plain_facts[name])
    return plain_facts


def within_bounds(facts: dict[str, Any]) -> dict[str, Any]:
    """Return checked facts with as many interfaces and addresses as a node may have; `left_out` says how many more.

    The report is not refused: an agent on a node with many containers would measure nothing any more.
    """
    every = facts.get("interfaces", [])
    left = MOST_ADDRESSES
    interfaces = []
    for interface in every[:MOST_INTERFACES]:
        addresses = interface.get("addresses", [])
        interfaces.append(interface | {"addresses": addresses[:left]} if len(addresses) > left else interface)
        left -= min(left, len(addresses))
    number = sum(len(interface.get("addresses", [])) for interface in every)
    more = {"interfaces": len(every) - len(interfaces), "addresses": number - (MOST_ADDRESSES - left)}
    if not any(more.values()):
        return facts
    return facts | {"interfaces": interfaces, "left_out": {what: count for what, count in more.items() if count}}


def sound(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored facts without those that are not in their form, versions plain: pages and rules rely on it.

    What came in before it was checked, or past it, is missing then, and breaks nothing.
    """
    return with_plain_versions({name: value for name, value in facts.items() if _is_sound(name, value)})


def excerpt(facts: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return facts for a page, of each list and table the first MOST_SHOWN entries, and how many are left out.

    A body of facts holds tens of thousands, which would take a second of the web process at each reading.
    """
    left_out = 0

    def cut(value: Any) -> Any:
        nonlocal left_out
        if not isinstance(value, dict | list):
            return value
        left_out += max(0, len(value) - MOST_SHOWN)
        if isinstance(value, dict):
            return {name: cut(inner) for name, inner in itertools.islice(value.items(), MOST_SHOWN)}
        return [cut(inner) for inner in value[:MOST_SHOWN]]

    return cut(facts), left_out


def with_plain_versions(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts with each program's version in words one space apart: programs print columns and tabs."""
    tools = facts.get("tools")
    if not isinstance(tools, dict):
        return facts
    return facts | {"tools": {name: _with_plain_version(program) for name, program in tools.items()}}


def _with_plain_version(program: Any) -> Any:
    version = program.get("version") if isinstance(program, dict) else None
    return {**program, "version": plain_version(version)} if isinstance(version, str) else program


def plain_version(text: str) -> str:
    """Return a version line by line, the words of each one space apart."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _is_sound(name: str, value: object) -> bool:
    try:
        _KNOWN.get(name, _anything)(name, value)
    except WrongFactError:
        return False
    return True


def clean_text(text: str) -> str:
    """Return a text without what PostgreSQL refuses: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _storable(value: Any, levels: int) -> Any:
    """Return a JSON value with every text in it cleaned and every number finite."""
    if levels == 0:
        raise _wrong("facts", f"nested at most {MOST_LEVELS} deep")
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise _wrong("facts", f"made of texts of at most {LONGEST_TEXT} characters each")
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(name): _storable(inner, levels - 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_storable(inner, levels - 1) for inner in value]
    if (isinstance(value, float) and not math.isfinite(value)) or (isinstance(value, int) and abs(value) >= _LARGEST):
        return None
    return value


def _wrong(name: str, what: str) -> WrongFactError:
    return WrongFactError(f"“{name}” must be {what}.")


def _anything(_name: str, _value: object) -> None:
    pass


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(name, "a text")


def _name(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise _wrong(name, f"a text of at most {LONGEST_NAME} characters")


def _names(name: str, value: object) -> None:
    _texts(name, value)
    _each(_name)(name, value)


def _number(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) >= _LARGEST):
        raise _wrong(name, "a whole number or null")


def _texts(name: str, value: object) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(name, "a list of texts")


def _object(**members: Callable[[str, object], None]) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        if not isinstance(value, dict):
            raise _wrong(name, "an object")
        for member, check_member in members.items():
            if member in value:
                check_member(f"{name}.{member}", value[member])

    return check


def _each(check_item: Callable[[str, object], None]) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        if not isinstance(value, list):
            raise _wrong(name, "a list")
        for place, item in enumerate(value):
            check_item(f"{name}[{place}]", item)

    return check


def _values(check_value: Callable[[str, object], None]) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        if not isinstance(value, dict):
            raise _wrong(name, "an object")
        for key, inner in value.items():
            check_value(f"{name}.{key}", inner)

    return check


_KNOWN: Mapping[str, Callable[[str, object], None]] = {
    "agent": _object(version=_text, python=_text, job_user=_text),
    "hostname": _name,
    "os": _object(name=_text, id=_text, version=_text),
    "kernel": _object(release=_text, version=_text, machine=_text),
    "cpu": _object(model=_text, sockets=_number, cores=_number, threads=_number, numa_nodes=_number),
    "memory": _object(ram_bytes=_number, swap_bytes=_number),
    "interfaces": _each(
        _object(
            **dict.fromkeys(("name", "kind", "state", "duplex", "driver", "master"), _text),
            **dict.fromkeys(("mtu", "speed_bps"), _number),
            mac=_name,
            addresses=_names,
        )
    ),
    "sysctls": _values(_text),
    "congestion_controls": _object(current=_text, available=_texts, allowed=_texts),
    "mounts": _each(_object(source=_text, target=_text, type=_text, options=_text)),
    "settings": _texts,
    "left_out": _object(interfaces=_number, addresses=_number),
    "confinement": _object(
        landlock=_number,
        own_rights=_texts,
        paths=_texts,
        destinations=_texts,
        variables=_texts,
        options=_values(_texts),
        wrappers=_values(_texts),
        unused=_texts,
    ),
    "tools": _values(_object(path=_text, version=_text)),
}
