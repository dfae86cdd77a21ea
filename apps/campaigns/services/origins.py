"""Who sees a campaign that is made from another: the one place that every service asks which makes one."""

from apps.campaigns.models import Campaign

Visibility = Campaign.Visibility


def visibility_from(original: Campaign | None) -> str:
    """Return who sees what is made from a campaign: of what is private to its maker only whoever makes it.

    What others may see of the original says nothing of the new one, which may measure something else: it is its
    team's until somebody shares it.
    """
    is_private = original is not None and original.visibility == Visibility.PRIVATE
    return Visibility.PRIVATE if is_private else Visibility.TEAM
