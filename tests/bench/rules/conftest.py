"""Every finding that any test of the rules brings about is read: no sentence of it has an empty place."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.bench.rules.base import FindingDraft
from tests import sayings

# A test of any evidence makes very many: of each msgid so many are read, the first.
MOST_ALIKE = 20


@pytest.fixture(autouse=True)
def read_findings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read the messages that are made in a test, of whatever draft, and refuse those with an empty place."""
    faults: dict[str, None] = {}
    counts: dict[str, int] = {}
    make = FindingDraft.__init__

    def noted(self: FindingDraft, *args: Any, **fields: Any) -> None:
        make(self, *args, **fields)
        messages = [self.title, *self.why, *self.against, self.applies_when, *self.limits, *self.side_effects]
        messages += [*self.missing, *(text for other in self.alternatives for text in (other.title, other.test))]
        for message in messages:
            counts[message.msgid] = counts.get(message.msgid, 0) + 1
            if counts[message.msgid] <= MOST_ALIKE:
                faults.update(dict.fromkeys(f"{self.rule}: {fault}" for fault in sayings.faults_of(message)))

        faults.update(dict.fromkeys(_faults_of_figures(self)))

    monkeypatch.setattr(FindingDraft, "__init__", noted)
    yield
    assert not faults, "\n".join(faults)


def _faults_of_figures(draft: FindingDraft) -> list[str]:
    """Return which figures of a draft lie outside of the interval that is printed beside them."""
    faults = []
    for name, value, interval in (
        ("value", draft.value, (draft.low, draft.high)),
        ("predicted", draft.predicted, draft.predicted_interval or (None, None)),
    ):
        low, high = interval
        if value is not None and ((low or value) > value * (1 + 1e-9) or (value > (high or value) * (1 + 1e-9))):
            faults.append(f"{draft.rule}: {name} {value:g} is not in {low} to {high}")
    return faults
