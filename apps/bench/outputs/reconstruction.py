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
    found: dict[str, str] = {}
    words = iter(argv[1:])
    for word in words:
        name, equals, value = word.partition("=")
        if word in valued:
            found[valued[word]] = next(words, "")
        elif word in flags:
            found[flags[word]] = "yes"
        elif word.startswith("--"):
            if equals and name in valued:
                found[valued[name]] = value
        elif word.startswith("-"):
            found |= _cluster(word, valued, flags)
    return found


def keep_valid(tool: Tool, raw: Mapping[str, Any]) -> dict[str, Value]:
    """Return those raw parameters that `tool.clean` takes, each by itself and all together; {} if none do."""
    known = {parameter.name: parameter for parameter in tool.parameters}
    kept: dict[str, Value] = {}
    for name, value in raw.items():
        if name not in known or value is None or not isinstance(value, str | int | float | bool):
            continue
        try:
            known[name].clean(value)
        except (units.UnitError, ValueError, OverflowError):
            continue
        kept[name] = value
    try:
        tool.clean(kept)
    except ParameterError as error:
        fitting = {name: value for name, value in kept.items() if name not in error.errors}
        return keep_valid(tool, fitting) if len(fitting) < len(kept) else {}
    return kept


def _cluster(word: str, valued: Mapping[str, str], flags: Mapping[str, str]) -> dict[str, str]:
    """Return what a word of one-letter options says: flags, and at its end one with its value."""
    found: dict[str, str] = {}
    for position, letter in enumerate(word[1:], start=1):
        option = "-" + letter
        if option in flags:
            found[flags[option]] = "yes"
        elif option in valued and position + 1 < len(word):
            return found | {valued[option]: word[position + 1 :]}
        else:
            break
    return found
