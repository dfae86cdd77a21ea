"""Builds the report of a campaign, or of several that belong together, from what was measured and concluded."""

from apps.reports.campaign.contents import build

__all__ = ["build"]
