"""Findings as their readers get them: what rests on settings that agents told is for the team of the nodes."""

from collections.abc import Iterable
from copy import copy

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.bench.rules import of_nodes
from apps.testbeds.queries.readers import of_own_nodes
from apps.tuning.models import Finding


def as_read_by(findings: Iterable[Finding], user: User | AnonymousUser | None) -> list[Finding]:
    """Return findings as a person reads them, those of other teams without what rests on settings of nodes.

    None is the service itself. Pages, REST and archives ask here; reports, which several read, mark it.
    """
    listed = list(findings)
    rows = Finding.objects.filter(pk__in=[finding.pk for finding in listed]).order_by()
    own = set(of_own_nodes(rows, user, path="").values_list("pk", flat=True))
    return [finding if finding.pk in own else for_others(finding) for finding in listed]


def for_others(finding: Finding) -> Finding:
    """Return a finding as readers of other teams get it; its verifications, where they are loaded, too."""
    other = copy(finding)
    own = {name: getattr(finding, name) for name in ("title", "change", "undo")}
    vars(other).update(of_nodes.for_others(own, finding.rule))
    other.details = of_nodes.for_others(finding.details, finding.rule)
    for verification in finding.verifications.all():
        verification.proof = of_nodes.proof_for_others(verification.proof)
    return other
