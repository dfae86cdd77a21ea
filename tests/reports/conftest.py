"""The named cast, and what was published of KISTI and Pusan as a report of their measurements."""

from types import SimpleNamespace

import pytest

from tests import factories


@pytest.fixture
def cast(db: None) -> SimpleNamespace:
    """Return the named cast."""
    return factories.cast()
