import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import factories
from tests.rest import schema, world

# Each refusal would be a line.
LOGGERS = ("django.request", "apps.core.races")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make the schema before workers are forked: each of them would make it for itself, a second of a core."""
    if session.config.option.workers:
        schema.document()


@pytest.fixture
def quiet() -> Iterator[None]:
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    yield
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def team(cast: factories.Cast, settings: Any, tmp_path: Path, quiet: None) -> Any:
    settings.VAR_DIR = tmp_path
    settings.PUBLIC_URL = "https://fathom.example.org"
    return world.build(cast, tmp_path)
