"""What a worker tells the process that forked it."""

import warnings
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RecordedWarning:
    """A warning of a test, with its text instead of whatever it was made of."""

    category: type[Warning]
    text: str
    filename: str
    line: int
    when: str
    nodeid: str
    location: tuple[str, int, str] | None

    def as_pytest_has_it(self) -> dict[str, Any]:
        """Return the arguments of the hook."""
        message = warnings.WarningMessage(self.text, self.category, self.filename, self.line)
        return {"warning_message": message, "when": self.when, "nodeid": self.nodeid, "location": self.location}


@dataclass(frozen=True)
class Done:
    """A test was carried out; `reports` are as pytest serialises them."""

    index: int
    reports: list[dict[str, Any]]
    warnings: list[RecordedWarning]


@dataclass(frozen=True)
class Stopped:
    """A test, or a plugin, asked for an end of the run."""

    reason: str


@dataclass(frozen=True)
class Broken:
    """Something broke that is no test."""

    traceback: str
