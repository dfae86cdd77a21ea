"""Which lanes may start a trial now."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, F, Lookup, OuterRef, QuerySet, Subquery, TextField, Value

from apps.campaigns.due import due as is_due
from apps.campaigns.models import Campaign, Experiment, Lane, Reservation, Trial
from apps.core import isolation
from apps.toolbox import queries as toolbox

# The work of claiming a trial; one with which it failed waits until it is tried again.
CLAIM = "schedule"
# With so many keys an index is asked which lanes need one of them; with more it would leave few out.
MOST_COMPARED = 200
_KEYS: ArrayField = ArrayField(TextField())


class AnyOf(Lookup):
    """``value = ANY(array)``, which unlike the overlap of arrays can use an index on `value`."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler, connection):
        """Return the SQL of the comparison."""
        value, value_params = self.process_lhs(compiler, connection)
        array, array_params = self.process_rhs(compiler, connection)
        return f"{value} = ANY({array})", (*value_params, *array_params)


class OnlyNodes(Lookup):
    """Whether all nodes of roles ({"client": [3]}) have their keys ("node:3") in an array, however many these are.

    What a run needs besides, servers of its file system, measures nothing and has no agent.
    """

    lookup_name = "only_nodes"
    prepare_rhs = False

    def as_sql(self, compiler, connection):
        """Return the SQL of the comparison."""
        roles, roles_params = self.process_lhs(compiler, connection)
        keys, keys_params = self.process_rhs(compiler, connection)
        nodes = f"FROM jsonb_each({roles}) AS role, jsonb_array_elements_text(role.value) AS node (pk)"
        return f"NOT EXISTS (SELECT {nodes} WHERE 'node:' || node.pk <> ALL({keys}))", (*roles_params, *keys_params)


class Startable(NamedTuple):
    """A lane that may start: {role: [node ids]}, the keys of what a run of it reserves, and its next trial."""

    experiment: int
    roles: dict[str, list[int]]
    resources: list[str]
    next_trial: int


def startable_lanes(
    *, now: datetime, ready_nodes: Collection[int], needing: Collection[str] | None = None
) -> list[Startable]:
    """Return the lanes of running campaigns with a trial due and nothing they need reserved, in fair order.

    Older campaigns come first, then experiments in their order, then trials in theirs, which is that of their
    primary keys. Only lanes all of whose nodes are ready are looked at; with `needing`, only those that need one of
    these resources.
    """
    free = _free(ready_nodes)
    if not free:
        return []
    # Named one by one, so that the lanes of all the campaigns that have ended are not even looked at.
    ranks = {pk: rank for rank, pk in enumerate(_running_experiments())}
    if not ranks:
        return []
    put_off_by = OuterRef("experiment__retry_wait_s")
    due = Trial.objects.filter(is_due(now, put_off_by), lane=OuterRef("pk"), state="pending")
    due = due.filter(~isolation.waiting(CLAIM, now))
    reservations = Reservation.objects.filter(AnyOf(F("resource"), OuterRef("resources")), released_at=None)
    rows = (
        _of_nodes(free, needing)
        .filter(~Exists(reservations), experiment__in=ranks)
        .annotate(next_trial=Subquery(due.order_by("position").values("pk")[:1]))
        .order_by()
        .values_list("experiment", "roles", "resources", "next_trial")
    )
    startable = [Startable(*row) for row in rows if row[-1] is not None]
    return sorted(startable, key=lambda lane: (ranks[lane.experiment], lane.next_trial))


def _free(ready_nodes: Collection[int]) -> list[str]:
    """Return the keys of those nodes that nothing holds: lanes of all others need not be looked at."""
    held = set(Reservation.objects.filter(released_at=None).values_list("resource", flat=True))
    return sorted({f"node:{pk}" for pk in ready_nodes} - held)


def _of_nodes(free: Sequence[str], needing: Collection[str] | None) -> QuerySet[Lane]:
    """Return the lanes that measure between no other nodes than these, and need one of the resources `needing`."""
    lanes = Lane.objects.filter(OnlyNodes(F("roles"), Value(list(free), output_field=_KEYS)))
    if needing is not None:
        return lanes.filter(resources__overlap=list(needing))
    # By an index, so that lanes of nodes that are away are not read; it compares each key with each.
    return lanes.filter(resources__overlap=list(free)) if len(free) <= MOST_COMPARED else lanes


def _running_experiments() -> QuerySet[Experiment, int]:
    """Return the primary keys of the experiments of running campaigns, the oldest campaign's first.

    Those whose tool waits for a manager, as it did not yet when they were launched, wait with it.
    """
    is_awaiting = toolbox.is_awaiting(OuterRef("tool"))
    running = Experiment.objects.filter(~is_awaiting, campaign__state=Campaign.State.RUNNING)
    return running.order_by("campaign__launched_at", "campaign_id", "position", "pk").values_list("pk", flat=True)
