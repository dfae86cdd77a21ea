"""Make a campaign of an archive: all of it or nothing."""

from apps.reports.exports.archives.storing.whole import Choices, store

__all__ = ["Choices", "store"]
