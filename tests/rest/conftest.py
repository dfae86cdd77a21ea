import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import factories, kept
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
def team(db: None, settings: Any, tmp_path: Path, quiet: None) -> Any:
    settings.VAR_DIR = tmp_path
    settings.PUBLIC_URL = "https://fathom.example.org"
    return kept.world("rest", lambda: world.build(factories.cast(), tmp_path), tmp_path)


@pytest.fixture
def cast(db: None, request: pytest.FixtureRequest) -> factories.Cast:
    """Return the named cast, that of the team that has one of everything if the test has it."""
    found: factories.Cast = (
        request.getfixturevalue("team").cast if "team" in request.fixturenames else factories.cast()
    )
    return found
