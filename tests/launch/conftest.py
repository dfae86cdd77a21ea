"""The one whole service that the tests of its parts share: to start one takes many seconds of a processor."""

from collections.abc import Iterator

import pytest

from tests.launch import stack

HANG_AFTER_S = 10
NAME = "fathom.example.org"


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stack.Stack]:
    """Give a service in a long path with a space, which has two addresses and a name, and notices halts soon.

    It ends with the tests of this folder: up to the end of the run it would take a tenth of a processor.
    """
    folder = tmp_path_factory.mktemp("a service") / ("long" * 25)
    names = {"BIND": "127.0.1.1", "ALLOWED_HOSTS": NAME}
    with stack.running(folder, HANG_AFTER=str(HANG_AFTER_S), **names) as started:
        yield started
