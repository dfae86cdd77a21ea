"""Builds the report over many campaigns of a team: what was measured, how well, what it showed and what it cost."""

from apps.reports.overview.contents import build

__all__ = ["build"]
