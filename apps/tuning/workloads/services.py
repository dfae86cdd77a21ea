"""Draft the measurement of a described workload."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench.rules.base import as_plain
from apps.bench.rules.workloads import Fit
from apps.bench.text import Message, _
from apps.campaigns.errors import Refused
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.tuning import proposals


def draft_fit(*, team: Team, fits: Sequence[Fit], place: int | None, user: User, now: datetime) -> Campaign:
    """Make a draft that measures the workload on the configuration at this place; Refused if it is not there."""
    rights.require(user, team, Role.OPERATOR)
    fit = fits[place] if place is not None and 0 <= place < len(fits) else None
    if fit is None or fit.proposal is None:
        raise Refused({"fit": Message(_("This configuration is not there any more: choose again."))})
    return proposals.draft_proposals(
        team=team,
        user=user,
        name=gettext("Workload on %(file_system)s") % {"file_system": fit.file_system},
        goal=" ".join(messages.render(line) for line in fit.why),
        proposals=[as_plain(fit.proposal)],
        now=now,
    )
