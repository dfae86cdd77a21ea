"""Sections of a document made one by one, so that one that cannot be computed is named and the others stand."""

from collections.abc import Callable

from apps.core import messages, parts
from apps.core.errors import ConflictError
from apps.reports.document import Paragraph, Section


class Parts:
    """Makes sections; a document that is to be frozen has none that failed: `is_strict` refuses it instead."""

    def __init__(self, *, is_strict: bool = False) -> None:
        self._is_strict = is_strict

    def section(self, key: str, title: str, compute: Callable[[], Section | None]) -> Section | None:
        """Return the section that `compute` makes, or one of that key and (translated) title that says it failed."""
        section, failure = parts.attempt(title, compute, None)
        if failure is None:
            return section
        if self._is_strict:
            raise ConflictError(failure)
        return Section(key, title, (Paragraph((messages.render(failure),), style="warning"),))
