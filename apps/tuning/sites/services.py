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


def draft_missing(*, layers: Layers, table: int | None, user: User, now: datetime) -> Campaign:
    """Make a draft of what the table at this place lacks; Refused if there is no such table, or it lacks nothing."""
    rights.require(user, layers.a.team, Role.OPERATOR)
    table_chosen = layers.tables[table] if table is not None and 0 <= table < len(layers.tables) else None
    if not layers.has_tables:
        raise Refused({"table": Message(_("The tables could not be computed: the page says why."))})
    if table_chosen is None or not table_chosen.proposals:
        text = _("What was to be measured is not missing any more: look at the tables again.")
        raise Refused({"table": Message(text)})
    name = gettext("Layers of %(file_system)s between %(a)s and %(b)s")
    return proposals.draft_proposals(
        team=layers.a.team,
        user=user,
        name=name % {"file_system": table_chosen.file_system, "a": layers.a.name, "b": layers.b.name},
        goal=" ".join(messages.render(message) for message in table_chosen.missing),
        proposals=[as_plain(proposal) for proposal in table_chosen.proposals],
        now=now,
    )
