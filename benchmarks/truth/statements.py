"""Ask the product what it makes of a stored world: every statement as rule or sentence with its figures."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.campaigns.models import Campaign
from apps.tuning import services as tuning
from benchmarks.truth.store import Stored

Json = dict[str, Any]
FINDING = "finding"


@dataclass(frozen=True)
class Statement:
    """What was said: by which rule (or of which panel or sentence, `rule`), with its fields.

    `confidence` is None where none is given; `about` names the experiment or pair it speaks of.
    """

    source: str
    rule: str
    fields: Json
    confidence: float | None = None
    about: str = ""
    trials: tuple[int, ...] = field(default=(), compare=False)

    @property
    def subject(self) -> str:
        """Return what a finding adds to its rule's name."""
        return str(self.fields.get("subject", ""))


class RuleFailed(RuntimeError):
    """A rule that failed on a world: that is no silence."""


def findings(stored: Stored, now: datetime) -> Iterator[Statement]:
    """Yield the findings that the analysis of the campaign stores; RuleFailed names a rule that raised."""
    drawn = tuning.findings.draw_conclusions(campaign=Campaign.objects.get(pk=stored.campaign.pk), now=now)
    if drawn.failed:
        raise RuleFailed("; ".join(f"{name}: {item.failure.error}" for name, item in drawn.failed.items()))
    for finding in drawn.findings:
        about = ",".join(f"{role}={node}" for role, node in finding.ends)
        # What else is proposed for the same question stands on the page, too.
        for draft in (finding.draft, *finding.draft.parts):
            yield Statement(FINDING, draft.rule, draft.as_json(), draft.confidence, about, draft.evidence)
