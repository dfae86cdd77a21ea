"""Kernel settings as parameters of a sweep: ``setting.<role>.<key>``, such as setting.client.net.core.rmem_max."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.bench.sweep import likeness
from apps.bench.text import _
from apps.bench.toolkit import Parameter

PREFIX = "setting."


def is_setting(name: str) -> bool:
    """Say whether a parameter is a kernel setting and not the tool's own."""
    return name.startswith(PREFIX)


def role_and_key(name: str) -> tuple[str, str]:
    """Return the role and the key of a setting's name; the key is "" where none is written."""
    role, _dot, key = name.removeprefix(PREFIX).partition(".")
    return role, key


def name_of(role: str, key: str) -> str:
    """Return the name of a setting of the nodes that play a role."""
    return f"{PREFIX}{role}.{key}"


def parameter_of(name: str) -> Parameter:
    """Return what a sweep needs to know of a setting: its values are texts, which the kernel reads."""
    role, key = role_and_key(name)
    return Parameter(name, "text", f"{key} ({role})", help=_("A setting of the kernel, put back after each run."))


def parameters_of(names: Iterable[str]) -> dict[str, Parameter]:
    """Return the parameters of those names that are settings."""
    return {name: parameter_of(name) for name in names if is_setting(name)}


def shown_parameters_of(names: Iterable[str]) -> dict[str, Parameter]:
    """Return the parameters of those names that are settings, or mark what is not known (`likeness`)."""
    mark = {likeness.AS_IN: likeness.PARAMETER} if likeness.AS_IN in (listed := list(names)) else {}
    return parameters_of(listed) | mark


def own_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial's parameters without the settings: what its tool takes."""
    return {name: value for name, value in likeness.told_of(parameters).items() if not is_setting(name)}


def settings_of(parameters: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the settings among a trial's parameters: {role: {key: value}}; blank ones are left alone."""
    by_role: dict[str, dict[str, str]] = {}
    for name, value in parameters.items():
        if is_setting(name) and str(value).strip():
            role, key = role_and_key(name)
            by_role.setdefault(role, {})[key] = str(value).strip()
    return by_role
