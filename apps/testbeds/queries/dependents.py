"""What would break if something of the inventory were deleted."""

from collections.abc import Iterator

from django.db.models import PROTECT, ManyToOneRel, Model

from apps.testbeds.models import Node

# So many of a kind are enough to see what it is about: a node may have run a million jobs.
MOST_OF_A_KIND = 20


def dependents(instance: Model) -> list[Model]:
    """Return the things that forbid deleting `instance`, by kind and name, some of each kind if there are many.

    A row that is a part of something else, such as a cluster's mount, is given as what it is a part of: it names
    it as its `dependent`.
    """
    things = [getattr(row, "dependent", row) for row in _protected(instance)]
    if isinstance(instance, Node):
        things += instance.clusters.all()[:MOST_OF_A_KIND]
    unique = {(item._meta.label, item.pk): item for item in things}
    return sorted(unique.values(), key=lambda item: (str(item._meta.verbose_name), str(item)))


def _protected(instance: Model) -> Iterator[Model]:
    """Yield rows that refer to the instance and forbid its deletion."""
    for relation in instance._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel) and relation.on_delete is PROTECT:
            rows = relation.related_model._base_manager.filter(**{relation.field.name: instance})
            yield from rows.order_by("pk")[:MOST_OF_A_KIND]
