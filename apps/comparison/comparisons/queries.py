"""Reads of saved views."""

from django.db.models import QuerySet

from apps.accounts import rights
from apps.accounts.models import User
from apps.comparison.models import SavedView


def views_for(user: User) -> QuerySet[SavedView]:
    """Return the views of the user's teams."""
    return rights.visible(SavedView.objects.select_related("team", "created_by"), user)
