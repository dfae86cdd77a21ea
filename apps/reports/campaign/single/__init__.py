"""Measurements that vary nothing, in the report."""

from apps.reports.campaign.single.groups import is_single
from apps.reports.campaign.single.sections import sections

__all__ = ["is_single", "sections"]
