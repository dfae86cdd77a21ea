"""What is sent is made piece by piece in one thread, and no further once its reader is gone."""

import threading
from collections.abc import Iterator

from django.http import HttpRequest
from django.test import AsyncRequestFactory, RequestFactory

from apps.core.sending import send


class Source:
    """Gives three pieces, and notes where it was asked for them and whether it was ended."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.ended = threading.Event()

    def pieces(self) -> Iterator[bytes]:
        try:
            for number in range(3):
                self.threads.append(threading.get_ident())
                yield b"%d" % number
        finally:
            self.ended.set()


async def test_under_asgi_each_piece_is_made_by_one_thread_of_its_own() -> None:
    source = Source()
    answer = send(AsyncRequestFactory().get("/"), source.pieces, name="a.csv", kind="text/csv")
    assert [piece async for piece in answer.streaming_content] == [b"0", b"1", b"2"]
    assert len(set(source.threads)) == 1
    assert threading.get_ident() not in source.threads
    assert answer["Content-Disposition"] == 'attachment; filename="a.csv"'


async def test_a_reader_who_goes_away_ends_the_making() -> None:
    source = Source()
    answer = send(AsyncRequestFactory().get("/"), source.pieces, name="a.csv", kind="text/csv")
    assert await anext(aiter(answer.streaming_content)) == b"0"
    answer.close()
    assert source.ended.wait(20)
    assert len(source.threads) == 1


def test_under_wsgi_the_caller_makes_them() -> None:
    source = Source()
    request: HttpRequest = RequestFactory().get("/")
    answer = send(request, source.pieces, name="a.csv", kind="text/csv")
    assert b"".join(answer.streaming_content) == b"012"
    assert set(source.threads) == {threading.get_ident()}
