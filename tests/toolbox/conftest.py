"""What tests of tools begin with: the cast, and a tool that the team defined."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.toolbox import services
from apps.toolbox.models import TeamTool
from tests.bench.custom import definitions


@pytest.fixture
def definition() -> dict[str, Any]:
    """Return the definition of openssl speed as plain data."""
    return definitions.data("site-digest")


@pytest.fixture
def tool(cast: SimpleNamespace, definition: dict[str, Any]) -> TeamTool:
    """Return the team's own tool in its first version."""
    return services.create_tool(team=cast.team, user=cast.alice, slug="site-digest", definition=definition)
