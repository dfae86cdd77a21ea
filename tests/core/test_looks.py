"""What many ask at once is looked up once, in threads of its own, and never with what was seen before they asked."""

import asyncio
import threading
import time

import pytest

from apps.core.looks import THREADS, Looks


class Watched:
    """Counts looks, of which each takes a moment, and the threads they are made in."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.threads: set[int] = set()
        self.state = "old"

    def __call__(self, key: str) -> str:
        self.made.append(key)
        self.threads.add(threading.get_ident())
        state = self.state
        time.sleep(0.05)
        return f"{key} {state}"


async def test_of_many_who_ask_the_same_at_once_one_is_looked_up_for() -> None:
    watched = Watched()
    looks = Looks(watched)
    assert await asyncio.gather(*(looks.ask("a") for _time in range(300))) == ["a old"] * 300
    assert watched.made == ["a"]


async def test_who_asks_while_a_look_is_under_way_hears_of_what_changed_meanwhile() -> None:
    watched = Watched()
    looks = Looks(watched)
    first = asyncio.create_task(looks.ask("a"))
    while not watched.made:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    watched.state = "new"
    assert await asyncio.gather(*(looks.ask("a") for _time in range(50))) == ["a new"] * 50
    assert await first == "a old"
    assert watched.made == ["a", "a"]


async def test_who_may_be_told_something_old_asks_for_no_look() -> None:
    watched = Watched()
    looks = Looks(watched)
    await looks.ask("a")
    watched.state = "new"
    assert await looks.ask("a", within_s=60) == "a old"
    assert await looks.ask("a") == "a new"
    assert await looks.ask("a", within_s=60) == "a new"


async def test_different_things_are_looked_up_side_by_side_in_few_threads() -> None:
    watched = Watched()
    looks = Looks(watched)
    begun = time.monotonic()
    await asyncio.gather(*(looks.ask(f"{number}") for number in range(8)))
    assert time.monotonic() - begun < 8 * 0.05 + 0.2
    assert 1 < len(watched.threads) <= THREADS
    assert threading.get_ident() not in watched.threads


async def test_one_that_fails_fails_for_all_who_asked_and_not_for_the_next() -> None:
    looks: Looks[str, str] = Looks(lambda key: {"a": "seen"}[key])
    for told in await asyncio.gather(*(looks.ask("b") for _time in range(3)), return_exceptions=True):
        assert isinstance(told, KeyError)
    assert await looks.ask("a") == "seen"
    with pytest.raises(KeyError):
        await looks.ask("b", within_s=60)


async def test_one_who_leaves_ends_nobody_elses_look() -> None:
    looks = Looks(Watched())
    gone, stays = asyncio.create_task(looks.ask("a")), asyncio.create_task(looks.ask("a"))
    await asyncio.sleep(0.01)
    gone.cancel()
    assert await stays == "a old"
