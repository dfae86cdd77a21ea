"""What campaigns tell the rooms that stand on them."""

from django.dispatch import Signal

# Runs are about to be deleted, in the same transaction: `runs` are their ids.
runs_deleting = Signal()
