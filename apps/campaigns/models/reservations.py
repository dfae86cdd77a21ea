"""Reservations: what a run holds so that nothing else disturbs it."""

from django.db import models
from django.db.models import Q

from apps.campaigns.models.trials import Run

# The constraint by which of two claims one wins.
ONE_HOLDER = "one_holder_at_a_time"


class Reservation(models.Model):
    """A resource ("node:3", "link:7") held by a run; the database refuses a second holder at one time."""

    resource = models.CharField(max_length=40)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reservations")
    taken_at = models.DateTimeField(auto_now_add=True)
    released_at = models.DateTimeField(null=True, blank=True)
    # Its run is over, but what the run started on a node that fell silent may still be at it until then.
    fenced_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["resource"], name=ONE_HOLDER, condition=Q(released_at__isnull=True))
        ]
        indexes = [
            models.Index(fields=["resource", "-taken_at"]),
            models.Index(
                fields=["fenced_until"],
                name="fences",
                condition=Q(fenced_until__isnull=False),
            ),
        ]
