"""Leave given to teams, and withdrawn again, to set kernel settings on nodes."""

import re
from collections.abc import Sequence
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.testbeds.models import Node, SettingGrant

LONGEST_VALUE = 200
MOST_VALUES = 50
# Keys as sysctl names them, with * and ? for parts; one that begins with * would allow everything there is.
_PATTERN = re.compile(r"[a-z][A-Za-z0-9_.:*?-]*")
_VALUE = re.compile(r"[\x20-\x7e]+")


@transaction.atomic
def grant_setting(
    *, node: Node, user: User, pattern: str, values: Sequence[str] = (), team: Team | None = None
) -> SettingGrant:
    """Let a team (the node's own unless given) set what matches `pattern` on a node to one of `values`, or to any.

    Only a manager of the node's team may; ValidationError names the field that is wrong.
    """
    rights.require(user, node.team, Role.MANAGER)
    allowed = [" ".join(value.split()) for value in values if value.strip()]
    wrong = {}
    if not _PATTERN.fullmatch(pattern.strip()):
        wrong["pattern"] = _(
            "Write a key or a pattern of keys, such as net.ipv4.tcp_congestion_control or net.core.*"
        )
    if len(allowed) > MOST_VALUES or any(
        len(value) > LONGEST_VALUE or not _VALUE.fullmatch(value) for value in allowed
    ):
        wrong["values"] = _("Write at most %(most)s values of plain characters, each of %(length)s at most.") % {
            "most": MOST_VALUES,
            "length": LONGEST_VALUE,
        }
    if wrong:
        raise ValidationError(wrong)
    grant = SettingGrant(node=node, team=team or node.team, pattern=pattern.strip(), values=allowed, granted_by=user)
    grant.full_clean()
    grant.save()
    return grant


@transaction.atomic
def revoke_grant(*, grant: SettingGrant, user: User, now: datetime) -> SettingGrant:
    """Withdraw a grant; it stays on record. Campaigns that need it fail at their next run."""
    rights.require(user, grant.node.team, Role.MANAGER)
    grant = SettingGrant.objects.select_for_update().select_related(None).get(pk=grant.pk)
    if grant.revoked_at is None:
        grant.revoked_at, grant.revoked_by = now, user
        grant.save(update_fields=["revoked_at", "revoked_by", "updated_at"])
    return grant
