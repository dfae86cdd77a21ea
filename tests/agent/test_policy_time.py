"""The agent's policy looks at words in a time that grows with their length, and at no more than is bounded."""

import time
from pathlib import Path

import pytest

from tests.agent.test_policy import refusal_of
from workers.agent.policy import guard
from workers.agent.policy.guard import LONGEST_COMMAND, LONGEST_WORD, MOST_WITHIN

# Parts that policies look for: of numbers, addresses, paths, programs, homes, ways up and encoded signs.
PUMPS = (
    *("1:", "1,", "a.", "%25", "%2525", "-", "../", "1.", "0x1.", "a/", "ab:", "::", "~", "@", "=", "\uff0e"),
    *("{program:ping}", "py", "ld-", "ld-x.so", "a/b:", ".", "é", "\u0301", "1.2.3.4 ", "xn--", "-a", "http:", "\\"),
    *("[", "busybox "),
)  # fmt: skip
# A list of processors is such a word: it is looked at in the time of a few looks at the disk.
MOST_S = 3.0


@pytest.mark.parametrize("pump", PUMPS)
@pytest.mark.parametrize("program", ["site-tool", "ping", "fio", "iperf3"])
def test_no_word_makes_the_policy_slow(tmp_path: Path, program: str, pump: str) -> None:
    word = (pump * LONGEST_WORD)[:LONGEST_WORD].replace(" ", "_")
    began = time.process_time()
    refusal_of(tmp_path, f"{program} {word}")
    refusal_of(tmp_path, f"{program} x{word[:-2]}y")
    assert time.process_time() - began < MOST_S


def test_each_part_of_a_word_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    look = guard.starters._place_of
    monkeypatch.setattr(guard.starters, "_place_of", lambda name: asked.append(name) or look(name))
    refusal_of(tmp_path, f"site-tool {'1:2:' * 1000}")
    assert asked
    assert len(asked) == len(set(asked)) < 10


def test_what_is_longer_is_refused_unread(tmp_path: Path) -> None:
    for command, words in (
        (f"site-tool {'1' * (LONGEST_WORD + 1)}", "a word of more than"),
        (f"site-tool {'1:' * 200_000}", "a word of more than"),
        ("site-tool " + "1 " * (LONGEST_COMMAND // 2 + 1), "characters of words"),
        ("mpirun " * 900 + "osu_bw", f"within more than {MOST_WITHIN}"),
        ("srun " * 9999 + "osu_bw", f"within more than {MOST_WITHIN}"),
    ):
        began = time.process_time()
        refused = refusal_of(tmp_path, command)
        assert refused.startswith("option-not-allowed"), command[:40]
        assert words in refused
        assert time.process_time() - began < MOST_S
