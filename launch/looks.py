"""Looks at one thing after another again and again, of which none ends the others."""

from collections.abc import Callable


class Looks:
    """Takes looks; `report(name, text)` gets one that fails, once until it succeeds or fails in another way."""

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report
        self._failures: dict[tuple[str, str], str] = {}

    def take(self, name: str, failure: str, look: Callable[..., object], *arguments: object) -> None:
        """Take a look at what has a name, whatever comes of it; `failure` says what it is if it fails."""
        key = (name, failure)
        try:
            look(*arguments)
        except Exception as error:
            reason = str(error) if isinstance(error, OSError) else repr(error)
            words = f"{failure}, trying again: {reason}"
            if self._failures.get(key) != words:
                self._failures[key] = words
                self._report(name, words)
        else:
            self._failures.pop(key, None)
