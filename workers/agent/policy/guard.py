"""The check of a job's command before anything is started."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ..refusals import CannotStart
from . import hosts, network, others, starters
from .reach import Reach, RefusedDestination
from .rules import ALLOCATION, COMMAND, RefusedOption, Rules, Word, check_calls, read_words
from .values import Place, RefusedPath, Values

# An owner's entry that allows a program everything.
ANYTHING = "*"
# What a path or an address must not make of a reason (characters).
LONGEST = 200
# What is looked at of a command, so that looking takes a bounded time: signs of a word (the service's have no more),
# of all its words, and programs of which each starts the next.
LONGEST_WORD = 4096
LONGEST_COMMAND = 256 * 1024
MOST_WITHIN = 8


def rules_of(program: str) -> Rules | None:
    """Return the rules of a program, None for one that the agent knows nothing of."""
    for table in (network.TABLE, others.TABLE):
        if program in table:
            return table[program]
    return next((rules for name, rules in others.FAMILIES.items() if fnmatch.fnmatchcase(program, name)), None)


class Guard:
    """Checks the commands of one job on its node.

    `options` is the owner's {program: [entry]}, `wrappers` the owner's {wrapper: [program that it may start]},
    `variables` the owner's [entry] of the environment, `shells` the owner's [program] by which launchers start ranks
    on other nodes, `paths` the folders and devices that the owner named;
    `fill` and `find_program` are those of the job's placeholders, `files` what the job brings (name: text), `owner`
    tells whose the job and its allocations are.
    """

    def __init__(
        self,
        *,
        work: str,
        paths: Sequence[str],
        options: Mapping[str, Sequence[str]],
        variables: Sequence[str] = (),
        wrappers: Mapping[str, Sequence[str]] = MappingProxyType({}),
        shells: Sequence[str] = (),
        reach: Reach,
        fill: Callable[[str], str],
        find_program: Callable[[str], str],
        files: Mapping[str, str],
        owner: str = "",
    ) -> None:
        # Allocations of all who use a cluster as the same user stand in one list: their names tell them apart.
        self._owner = hashlib.sha256(owner.encode()).hexdigest()[:12]
        self._options, self._variables, self._wrappers = options, variables, wrappers
        self._values = Values(Place(work, tuple(paths)), reach, fill, find_program, files, shells)
        self._find_program = find_program

    def check(
        self,
        argv: Sequence[str],
        environment: Iterable[Sequence[str]] = (),
        *,
        checks_words: bool = True,
        within: int = 0,
    ) -> None:
        """Raise CannotStart unless a command's words and variables, as they were sent, may be given.

        Without `checks_words` it is only the variables: of the agent's own programs. `within` so many others it
        stands.
        """
        program, pairs = argv[0], list(environment)
        try:
            for name, value in pairs:
                self._values.check_variable(name, value, self._variables)
            if checks_words:
                _check_length(argv, pairs, within)
                self._check(program, argv[1:], [name for name, _value in pairs], within)
        except RefusedOption as refusal:
            raise CannotStart("option-not-allowed", _named(program, refusal)) from None
        except RefusedPath as refusal:
            raise CannotStart("path-not-allowed", _named(program, refusal)) from None
        except RefusedDestination as refusal:
            raise CannotStart("destination-not-allowed", _named(program, refusal)) from None

    def completed(self, argv: Sequence[str]) -> list[str]:
        """Return a command that was checked, with the words that the agent itself puts into it, at any depth."""
        program, words = argv[0], argv[1:]
        entries, rules = self._options.get(program, ()), self._rules_of(program)
        if rules is None or ANYTHING in entries:
            return list(argv)
        values = list(read_words(rules.widened(entries), words))
        command = next((word for word in values if word.kind == COMMAND), None)
        own = {word.value: f"{word.value}-{self._owner}" for word in values if word.kind == ALLOCATION}
        end = len(words) if command is None else len(words) - len(command.rest) - 1
        head = [_owned(word, own) for word in words[:end]]
        if command is None:
            return [program, *rules.begin, *head]
        name = _name_of(command.value)
        inner = self.completed([name, *command.rest])
        # A wrapper would look a bare name up by itself, and might come upon another than the owner's.
        value = f"{{program:{name}}}" if program in self._wrappers else command.value
        return [program, *rules.begin, *head, value, *inner[1:]]

    def _check(self, program: str, words: Sequence[str], variables: Sequence[str], within: int) -> None:
        entries = self._options.get(program, ())
        if ANYTHING in entries:
            return
        rules = self._rules_of(program)
        if rules is None:
            if starters.is_starter(program, self._find_program(program)):
                raise RefusedOption("starts other programs: its owner must say which")
            for text in words:
                self._values.check_unknown(text)
            return
        rules = rules.widened(entries)
        values = list(read_words(rules, words))
        for word in values:
            if word.kind == COMMAND:
                name = _name_of(word.value)
                if name not in self._wrappers.get(program, (name,)):
                    raise RefusedOption(word.value)
                self._find_program(name)
                self.check([name, *word.rest], within=within + 1)
            else:
                self._values.check(word)
        check_calls(rules, words, values)
        self._check_remote(rules, values, variables)

    def _rules_of(self, program: str) -> Rules | None:
        return starters.WRAPPERS[program] if program in self._wrappers else rules_of(program)

    def _check_remote(self, rules: Rules, values: Sequence[Word], variables: Sequence[str]) -> None:
        """Raise CannotStart if a launcher would start ranks elsewhere by a program that the owner does not allow."""
        if not rules.starters:
            return
        names = {*variables, *(word.option for word in values)}
        choices = {word.value for word in values if word.option in rules.choices}
        if hosts.needs_shell(
            rules, names, choices, [host for word in values for host in self._values.hosts_in(word)]
        ):
            self._find_program(hosts.SHELL)


def _owned(word: str, own: Mapping[str, str]) -> str:
    """Return a word of a command with the full names of its allocations."""
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{own.get(value, value)}"


def _check_length(argv: Sequence[str], pairs: Sequence[Sequence[str]], within: int) -> None:
    sizes = [len(text) for text in (*argv, *(value for _name, value in pairs))]
    if max(sizes) > LONGEST_WORD:
        raise RefusedOption(f"a word of more than {LONGEST_WORD} characters")
    if sum(sizes) + len(sizes) > LONGEST_COMMAND:
        raise RefusedOption(f"more than {LONGEST_COMMAND} characters of words")
    if within > MOST_WITHIN:
        raise RefusedOption(f"stands within more than {MOST_WITHIN} programs that start others")


def _name_of(word: str) -> str:
    """Return the name of a command's program, which is itself or stands in a placeholder."""
    return word[len("{program:") : -1] if word.startswith("{program:") and word.endswith("}") else word


def _named(program: str, refusal: ValueError) -> str:
    return f"{program} {refusal}"[:LONGEST]
