"""Reads of findings."""

from django.db.models import QuerySet

from apps.accounts import scoping
from apps.accounts.models import User
from apps.tuning.models import Finding


def findings_for(user: User) -> QuerySet[Finding]:
    """Return the findings of the user's teams with what lists show, the latest first."""
    return scoping.visible(Finding.objects.select_related("campaign", "team"), user)
