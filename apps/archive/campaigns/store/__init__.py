"""Make a campaign of an archive: all of it or nothing."""

from apps.archive.campaigns.store.whole import Choices, store

__all__ = ["Choices", "store"]
