"""GridFTP: the options that move most, as one command line, and what parallel streams gain over one."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.gridftp import options, parallel

RULES = (options.conclude, parallel.conclude)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    drafts = [conclude(evidence) for conclude in RULES]
    return [draft for draft in drafts if draft is not None]
