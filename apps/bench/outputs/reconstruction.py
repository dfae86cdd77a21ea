"""From a recorded argv and output back to the parameters they were made with, as far as these tell."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench import units
from apps.bench.toolkit import ParameterError, Tool, Value


def is_known(argv: Sequence[str]) -> bool:
    """Return whether a command line is known: only then do options that are not there say something."""
    return bool(argv)


def read_options(argv: Sequence[str], valued: Mapping[str, str], flags: Mapping[str, str]) -> dict[str, str]:
    """Return {key: word behind the option} and {key: "yes"} for flags; `valued` and `flags` are {option: key}.

    Spellings are those of getopt: ``-t 10``, ``-t10``, ``--time 10``, ``--time=10``, ``-Ru`` (two flags).
    """
    options: dict[str, str] = {}
    words = iter(argv[1:])
    for word in words:
        name, equals, value = word.partition("=")
        if word in valued:
            options[valued[word]] = next(words, "")
        elif word in flags:
            options[flags[word]] = "yes"
        elif word.startswith("--"):
            if equals and name in valued:
                options[valued[name]] = value
        elif word.startswith("-"):
            options |= _cluster(word, valued, flags)
    return options


def keep_valid(tool: Tool, raw: Mapping[str, Any]) -> dict[str, Value]:
    """Return those raw parameters that `tool.clean` takes, each by itself and all together; {} if none do."""
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    valid: dict[str, Value] = {}
    for name, value in raw.items():
        if name not in parameters or value is None or not isinstance(value, str | int | float | bool):
            continue
        try:
            parameters[name].clean(value)
        except (units.UnitError, ValueError, OverflowError):
            continue
        valid[name] = value
    try:
        tool.clean(valid)
    except ParameterError as error:
        fitting = {name: value for name, value in valid.items() if name not in error.errors}
        return keep_valid(tool, fitting) if len(fitting) < len(valid) else {}
    return valid


def _cluster(word: str, valued: Mapping[str, str], flags: Mapping[str, str]) -> dict[str, str]:
    """Return what a word of one-letter options says: flags, and at its end one with its value."""
    options: dict[str, str] = {}
    for position, letter in enumerate(word[1:], start=1):
        option = "-" + letter
        if option in flags:
            options[flags[option]] = "yes"
        elif option in valued and position + 1 < len(word):
            return options | {valued[option]: word[position + 1 :]}
        else:
            break
    return options
