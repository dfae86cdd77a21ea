"""The hooks of this plugin's own."""

import pytest


def pytest_worker_start(config: pytest.Config, name: str) -> None:
    """Prepare a worker that was forked just now, in that worker; `name` is its own."""
