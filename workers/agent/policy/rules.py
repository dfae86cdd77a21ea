"""What the options of a program may be: the rules of one program, and the words of a command read by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

# What the value of an option, or a plain word, is. A flag has no value; a text is any word that holds neither a slash
# nor an address; local is an address or an interface of the node's own, a number may have a unit behind it, cpus are
# a list or a mask.
FLAG, TEXT, FILE, FILES, ADDRESS, ADDRESSES = "flag", "text", "file", "files", "address", "addresses"
NETWORKS, OUTPUT, PROGRAM, COMMAND, URL, URL_LIST = "networks", "output", "program", "command", "url", "url-list"
LOCAL, NUMBER, CPUS = "local", "number", "cpus"
# A program by which a launcher starts ranks on other nodes, with words that no rules here have.
REMOTE_SHELL = "remote-shell"
# A program that the rules themselves name (`choices`), which may be one that starts others.
NAMED_PROGRAM = "named-program"
# A file that may be removed: one of a job's, by its place or its name.
REMOVED = "removed"
# The name of an allocation of Slurm's, to which the agent adds whose it is; a word has no sign that parts lists.
ALLOCATION, WORD = "allocation", "word"
# How a launcher lays ranks out over a machine.
MAPPING, BINDING = "mapping", "binding"
# Files of the job's own that tell launchers where ranks start.
HYDRA_HOSTS, OPENMPI_HOSTS, OPENMPI_RANKS = "hydra-hosts", "openmpi-hosts", "openmpi-ranks"
# The configuration of a GridFTP server, one of the job's own files.
SETTINGS = "settings"
# What the owner of a node may say of an option that is to be allowed there.
OWNERS_KINDS = (FLAG, TEXT, NUMBER, FILE, ADDRESS, LOCAL, PROGRAM)
# … and of a variable.
VARIABLE_KINDS = tuple(kind for kind in OWNERS_KINDS if kind != FLAG)


_WHOLE, _FRACTION = re.compile("[0-9]{1,9}"), re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class RefusedOption(ValueError):
    """An option, or a word, that the rules of its program do not have; the text is that word."""


class Word(NamedTuple):
    """A value of a command: what it is, the option it belongs to ("" for a plain word), and itself.

    A command's value is the program and all that follows it.
    """

    kind: str
    option: str
    value: str
    rest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """The options that a program's commands may have: {option: kind of its value}, all others being refused.

    `words` are the kinds of the plain words in their order, of which the last may be repeated if `repeats`. With
    `clusters` options of one letter may stand together and have their values attached, as getopt(3) has it; with
    `mixes` they may follow plain words. `choices` limits the values of an option, `most` is the largest of a number
    above 0. `commands` are the rules by first word, `behind` those of what follows a double dash, `operands` those of
    words such as if=FILE. `prefix` is how every command begins; `exact` lists whole commands. A word in `refused`
    stands nowhere.

    Some options of an `attached` program may do without a value, so no value stands in a word of its own there: a
    program would take that for a host, a file or a command. One that `calls` has exactly one address in its command,
    unless one of the options in `serves` makes it a server, or it `may_serve` without any; then it has none.

    `own_rights` says that the program, or one of its `helpers`, may have rights of its own on a node (setuid or file
    capabilities), which it needs; `shares_memory` that its processes meet in /dev/shm. `begin` are words that the
    agent itself puts before all others. `needs` are options that every command has exactly once. `starters` are the
    options and variables of a launcher that name the program which starts ranks on other machines.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    repeats: bool = False
    clusters: bool = True
    mixes: bool = False
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)
    commands: Mapping[str, Rules] = field(default_factory=dict)
    behind: Rules | None = None
    operands: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    exact: tuple[tuple[str, ...], ...] = ()
    refused: tuple[str, ...] = ()
    takes_options: bool = True
    attached: bool = False
    calls: bool = False
    serves: tuple[str, ...] = ()
    may_serve: bool = False
    own_rights: bool = False
    helpers: tuple[str, ...] = ()
    shares_memory: bool = False
    begin: tuple[str, ...] = ()
    starters: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def widened(self, entries: Sequence[str]) -> Rules:
        """Return the rules with options of the owner's: each "-x", or "-x KIND" if it has a value."""
        extra = {}
        for entry in entries:
            option, _blank, kind = entry.partition(" ")
            extra[option] = kind or FLAG
        commands = {name: rules.widened(entries) for name, rules in self.commands.items()}
        # Of what the owner's options do nothing is known here: they may name whom to call in a file.
        may_serve = self.may_serve or bool(extra)
        return replace(self, options={**self.options, **extra}, commands=commands, may_serve=may_serve)


def options_of(**names: str) -> dict[str, str]:
    """Return {option: kind} of options written by kind: ``options_of(flag="-n -q", text="-c", url_list="-f")``."""
    return {option: kind.replace("_", "-") for kind, text in names.items() for option in text.split()}


def read_words(rules: Rules, words: Sequence[str]) -> Iterator[Word]:
    """Yield every word of a command (without its program) that has a value; RefusedOption for what is not allowed."""
    words = tuple(words)
    if words in rules.exact:
        return
    for word in words:
        if word in rules.refused:
            raise RefusedOption(word)
    if words[: len(rules.prefix)] != rules.prefix:
        raise RefusedOption(" ".join(words[: len(rules.prefix)]))
    words = words[len(rules.prefix) :]
    if rules.commands:
        if not words or words[0] not in rules.commands:
            raise RefusedOption(words[0] if words else "")
        yield from read_words(rules.commands[words[0]], words[1:])
        return
    yield from _Reader(rules, words).read()


def check_calls(rules: Rules, words: Sequence[str], values: Sequence[Word]) -> None:
    """Raise RefusedOption unless a command has the options it needs, and names whom it calls as often as it must."""
    while rules.commands:
        rules, words = rules.commands[words[0]], words[1:]
    for option in rules.needs:
        if sum(value.option == option for value in values) != 1:
            raise RefusedOption(f"needs {option} exactly once")
    if not rules.calls:
        return
    count = sum(value.kind == ADDRESS for value in values)
    serves = any(option in words for option in rules.serves) or (rules.may_serve and not count)
    if count != (0 if serves else 1):
        raise RefusedOption("without one address" if count == 0 else "with more than one address")


class _Reader:
    """The words of one command, taken from the front."""

    def __init__(self, rules: Rules, words: Sequence[str]) -> None:
        self._rules, self._words = rules, list(words)
        self._plain = 0

    def read(self) -> Iterator[Word]:
        rules = self._rules
        while self._words:
            word = self._words.pop(0)
            if word == "--" and rules.behind is not None:
                yield from read_words(rules.behind, self._words)
                return
            if rules.takes_options and word.startswith("-") and word != "-":
                if self._plain and not rules.mixes:
                    # The program may take it for a plain word, and the next one for another.
                    raise RefusedOption(word)
                yield from self._read_option(word)
                continue
            kind = self._kind_of_plain(word)
            if kind == COMMAND:
                yield Word(COMMAND, "", word, tuple(self._words))
                return
            yield Word(kind, "", word.partition("=")[2] if rules.operands else word)

    def _kind_of_plain(self, word: str) -> str:
        rules = self._rules
        if rules.operands:
            name, equals, _value = word.partition("=")
            if not equals or name not in rules.operands:
                raise RefusedOption(word)
            return rules.operands[name]
        place = min(self._plain, len(rules.words) - 1) if rules.repeats else self._plain
        if not 0 <= place < len(rules.words):
            raise RefusedOption(word)
        self._plain += 1
        return rules.words[place]

    def _read_option(self, word: str) -> Iterator[Word]:
        options = self._rules.options
        if self._words and f"{word} {self._words[0]}" in options:
            # One of those that name what they set: --mca KEY VALUE.
            word = f"{word} {self._words.pop(0)}"
        if word in options:
            yield from self._valued(word, None)
            return
        name, equals, value = word.partition("=")
        if equals and options.get(name, FLAG) != FLAG:
            yield from self._valued(name, value)
            return
        if not self._rules.clusters or word.startswith("--"):
            raise RefusedOption(name)
        for position in range(1, len(word)):
            option = "-" + word[position]
            if option not in options:
                raise RefusedOption(option)
            if options[option] != FLAG:
                yield from self._valued(option, word[position + 1 :] or None)
                return

    def _valued(self, option: str, value: str | None) -> Iterator[Word]:
        """Yield an option's value: what is attached, or the next word; nothing for a flag."""
        kind = self._rules.options[option]
        if kind == FLAG:
            return
        if value is None:
            if not self._words or self._rules.attached:
                raise RefusedOption(option)
            value = self._words.pop(0)
        if value.startswith("-") and value != "-":
            # Programs differ in whether they take such a word for the value, or for the next option.
            raise RefusedOption(f"{option} {value}")
        if kind == FILES:
            # All plain words from here on.
            values = [value]
            while self._words and not self._words[0].startswith("-"):
                values.append(self._words.pop(0))
            yield from (Word(FILE, option, item) for item in values)
            return
        if value not in self._rules.choices.get(option, (value,)):
            raise RefusedOption(f"{option} {value}")
        if option in self._rules.most and not _is_within(value, self._rules.most[option]):
            raise RefusedOption(f"{option} {value}")
        yield Word(kind, option, value)


def _is_within(text: str, most: float) -> bool:
    # A program that reads a whole number may take a fraction of one for 0.
    form = _FRACTION if isinstance(most, float) else _WHOLE
    return form.fullmatch(text) is not None and 0 < float(text) <= most
