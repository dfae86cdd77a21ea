"""What takes long is made by one of all who ask at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client

from apps.core import api_docs
from apps.core.once import made_once

ASKERS = 8


def test_of_all_who_ask_at_once_one_makes_it() -> None:
    makers: list[str] = []

    @made_once(most=2)
    def make(name: str) -> str:
        makers.append(name)
        time.sleep(0.2)
        return name.upper()

    with ThreadPoolExecutor(2 * ASKERS) as together:
        assert list(together.map(make, ["a", "b"] * ASKERS)) == ["A", "B"] * ASKERS
    assert sorted(makers) == ["a", "b"]


def test_what_was_asked_for_last_is_kept() -> None:
    makers: list[int] = []
    make = made_once(most=2)(lambda number: makers.append(number))
    for number in (1, 2, 1, 3, 1, 2):
        make(number)
    assert makers == [1, 2, 3, 2]
    make.forget()
    make(1)
    assert makers[-1] == 1


def test_what_failed_is_tried_again_by_the_next() -> None:
    begun, ended = threading.Event(), threading.Event()
    tries: list[int] = []

    @made_once(most=1)
    def make() -> int:
        tries.append(1)
        begun.set()
        ended.wait(60)
        if len(tries) == 1:
            raise ValueError("broken")
        return len(tries)

    with ThreadPoolExecutor(2) as together:
        asked = [together.submit(make)]
        assert begun.wait(60)
        (result,) = make._results.values()
        asked.append(together.submit(make))
        while not result._condition._waiters:
            time.sleep(0.01)
        ended.set()
        for one in asked:
            with pytest.raises(ValueError, match="broken"):
                one.result()
    assert make() == 2


@pytest.mark.django_db
def test_the_schema_is_made_once_for_all(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    makers: list[object] = []
    generator = api_docs.SchemaView.generator_class

    class Counting(generator):  # type: ignore[misc,valid-type]
        def get_schema(self, *args: object, **kwargs: object) -> object:
            makers.append(self)
            return super().get_schema(*args, **kwargs)

    monkeypatch.setattr(api_docs.SchemaView, "generator_class", Counting)
    api_docs._schema.forget()
    with ThreadPoolExecutor(ASKERS) as together:
        answers = list(
            together.map(lambda _asker: Client().get("/api/v1/schema/?format=json").status_code, range(ASKERS))
        )
    assert set(answers) == {200}
    assert len(makers) == 1
