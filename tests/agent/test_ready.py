"""Ready patterns mean what they mean in Python, and take time by the length of the output alone."""

import random
import re
from collections.abc import Iterator

import pytest

from apps.bench import tools
from apps.bench.custom.patterns import PatternError, check_ready
from apps.bench.toolkit import Tool
from tests.agent.test_policy_tools import plans
from workers.agent.process import Stream
from workers.agent.ready import BadPattern, Search, compile_pattern

PATTERNS = [
    r"Server listening on \d+",
    r"^srun: Job \d+ to start at",
    r"^\S.* /mnt/x\n",
    "a|bc|",
    "(?:TCP|UDP) port",
    "(?P<x>a|b)+c",
    "((a*)*b)+$",
    "^$",
    r"\bab\b",
    r"a\B.",
    "[^a-c\\]x]b",
    "[]a]+b",
    "[a-]c",
    r"[\d\-x]{2,3}b",
    "a{2}b{0}c{,2}b{1,}",
    "x{}y{a}",
    "(?i)Ab[c]",
    "é+b",
    "a+?b*?c??$",
    r"\.\x61\t",
    "^(a|^b)*c",
    "a$\nb",
    "$^",
    "(a|b(c|)(|d)){1,3}x",
]
REFUSED = ["(", ")", "a)", "[a", "*a", "a**", "a*+", "a{2}{3}", r"(?=a)", r"(?<!a)b", r"(a)\1", "(?P=x)", "(?s:a)"]
REFUSED += ["a{3,2}", r"\q", r"\é", "[b-a]", r"[\d-x]", "\\", "(?#x)", "(" * 21 + ")" * 21, "x" * 501]
# Small to write, large to match.
TOO_LARGE = ["a{999}", "(a{30}){30}", "((((((a{9}){9}){9}){9}){9}){9}){9}", "((((){999}){999}){999}){999}", "a{9999}"]
TOO_LARGE += ["(" + "|" * 400 + "){999}"]


def texts() -> Iterator[str]:
    """Yield short texts of the signs that the patterns are about."""
    dice = random.Random(20090401)
    for _turn in range(400):
        yield "".join(dice.choice("aabbccdx yé.\n\n-]\t_A1") for _sign in range(dice.randrange(9)))
    yield from ("Server listening on 5201\n", "srun: Job 3 to start at", "df /mnt/x\n", "UDP port", "x{}y{a}", ".a\t")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_it_matches_in_python(pattern: str) -> None:
    meaning, automaton = re.compile(pattern.encode(), re.MULTILINE), compile_pattern(pattern)
    check_ready(pattern)
    for text in filter(None, texts()):
        data = text.encode()
        expected = meaning.search(data) is not None
        assert Search(automaton).take(data) == expected, text
        search = Search(automaton)
        # In parts it may match earlier, at what was the end of the line so far.
        answers = [search.take(data[place : place + 1]) for place in range(len(data))]
        assert any(answers) >= expected, text
        if not re.search(r"\$|\\[bBZ]", pattern):
            assert any(answers) == expected, text


@pytest.mark.parametrize("pattern", [*REFUSED, *TOO_LARGE])
def test_what_agents_do_not_match_is_refused_by_them_and_by_the_service(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(pattern)
    with pytest.raises(PatternError):
        check_ready(pattern)


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_the_service_accepts_no_pattern_that_agents_refuse() -> None:
    dice = random.Random(12)
    parts = [*"ab.|()[]^$*+?{}-\\", "{2}", "{,3}", "(?:", "(?i)", r"\d", r"\b", r"\.", "[a-c]", "é", "{999}"]
    accepted = 0
    for _turn in range(4000):
        pattern = "".join(dice.choice(parts) for _part in range(dice.randrange(1, 8)))
        try:
            check_ready(pattern)
        except PatternError:
            continue
        compile_pattern(pattern)
        accepted += 1
    assert accepted > 200


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.slug)
def test_agents_match_the_ready_patterns_of_every_tool(tool: Tool) -> None:
    commands = [command for plan in plans(tool) for stage in plan.stages for command in stage.commands]
    for pattern in {command.ready_pattern for command in commands if command.ready_pattern}:
        check_ready(pattern)
        compile_pattern(pattern)


class CountingBytes(bytes):
    """Bytes that count how often one of them is looked at."""

    looks = 0

    def __iter__(self) -> Iterator[int]:
        for value in super().__iter__():
            type(self).looks += 1
            yield value


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("-?" * 45 + "-" * 59 + "X", b"-" * 59),
        ("(a*)*b", b"a" * 5000),
        ("(a|aa)+b", b"a" * 5000),
        (".*.*.*.*x.*y", b"x" * 5000),
        (r"(\w+\s?)*z", b"a " * 2500),
        ("(x+x+)+y", b"x" * 5000),
    ],
)
def test_no_pattern_makes_the_agent_look_twice(pattern: str, line: bytes) -> None:
    # Python's own engine needs longer than the age of the universe for most of these.
    stream = Stream(10**6)
    stream.look_for(compile_pattern(pattern))
    CountingBytes.looks = 0
    for _turn in range(3):
        assert not stream.take(CountingBytes(line))
    assert CountingBytes.looks == 3 * len(line)
