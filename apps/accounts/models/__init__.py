"""Users, teams, memberships, invitations and API tokens."""

from apps.accounts.models.invitations import Invitation
from apps.accounts.models.mail import MailAddress, MailConsent
from apps.accounts.models.teams import Membership, Role, Team, TeamOwned
from apps.accounts.models.tokens import ApiToken
from apps.accounts.models.usage import MailUsage, TeamUsage
from apps.accounts.models.users import User

__all__ = [
    "ApiToken", "Invitation", "MailAddress", "MailConsent", "MailUsage", "Membership", "Role", "Team", "TeamOwned",
    "TeamUsage", "User",
]  # fmt: skip
