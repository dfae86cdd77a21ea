"""The filter of lists by the tool that measured."""

from apps.accounts.filters import NameFilter
from apps.accounts.models import User
from apps.toolbox import queries


def tool_filter(field_name: str) -> NameFilter:
    """Return the filter by a tool's short name, of those that came with the service or that teams defined."""
    return NameFilter(field_name, _slugs_of)


def _slugs_of(user: User) -> list[str]:
    return [tool.slug for tool in queries.tools_of(user)]
