"""Draft what is unmeasured between two sites."""

from datetime import datetime

from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.bench.rules.base import as_plain
from apps.bench.text import Message, _
from apps.campaigns.errors import Refused
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.tuning import proposals
from apps.tuning.sites.queries import Layers


def draft_missing(*, found: Layers, table: int | None, user: User, now: datetime) -> Campaign:
    """Make a draft of what the table at this place lacks; Refused if there is no such table, or it lacks nothing."""
    rights.require(user, found.a.team, Role.OPERATOR)
    chosen = found.tables[table] if table is not None and 0 <= table < len(found.tables) else None
    if not found.has_tables:
        raise Refused({"table": Message(_("The tables could not be computed: the page says why."))})
    if chosen is None or not chosen.proposals:
        text = _("What was to be measured is not missing any more: look at the tables again.")
        raise Refused({"table": Message(text)})
    name = gettext("Layers of %(file_system)s between %(a)s and %(b)s")
    return proposals.draft_proposals(
        team=found.a.team,
        user=user,
        name=name % {"file_system": chosen.file_system, "a": found.a.name, "b": found.b.name},
        goal=" ".join(messages.render(message) for message in chosen.missing),
        proposals=[as_plain(proposal) for proposal in chosen.proposals],
        now=now,
    )
