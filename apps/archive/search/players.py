"""Who played a role in experiments, and between which ends they measured, as the database gathers and keeps it.

What is kept already is left as it is: of a campaign under way, which is looked at every few minutes, nothing of this
changes, however many pairs of nodes it has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Count

from apps.bench import strict_json
from apps.campaigns.models import Lane

_PLAYED = """
    SELECT DISTINCT lane.experiment_id, node.id
      FROM campaigns_lane lane
     CROSS JOIN LATERAL jsonb_each(lane.roles) AS role (name, members)
     CROSS JOIN LATERAL jsonb_array_elements_text(role.members) AS member (id)
      JOIN testbeds_node node ON node.id = member.id::bigint
     WHERE lane.experiment_id = ANY(%(experiments)s)
"""
# The first nodes of the first two roles, in the order of the tool, that anybody plays.
_ENDS = """
    SELECT DISTINCT pair.experiment_id, a.id, b.id
      FROM (SELECT lane.experiment_id,
                   (SELECT array_agg((lane.roles -> role.name ->> 0)::bigint ORDER BY role.place)
                      FROM jsonb_array_elements_text(tool.roles::jsonb) WITH ORDINALITY AS role (name, place)
                     WHERE lane.roles -> role.name ->> 0 IS NOT NULL) AS firsts
              FROM campaigns_lane lane
              JOIN unnest(%(experiments)s::bigint[], %(roles)s::text[]) AS tool (experiment_id, roles)
                ON tool.experiment_id = lane.experiment_id) pair
      JOIN testbeds_node a ON a.id = pair.firsts[1]
      JOIN testbeds_node b ON b.id = pair.firsts[2]
"""
_KEEP = """
    WITH wanted AS MATERIALIZED ({wanted}), gone AS (
        DELETE FROM {table} WHERE {entry} = ANY(%(experiments)s)
           AND ({columns}) NOT IN (SELECT * FROM wanted)
    )
    INSERT INTO {table} ({columns})
    SELECT * FROM wanted EXCEPT SELECT {columns} FROM {table} WHERE {entry} = ANY(%(experiments)s)
"""
_NODES = {"table": "results_searchentry_nodes", "entry": "searchentry_id", "columns": "searchentry_id, node_id"}
_PAIRS = {"table": "results_searchend", "entry": "entry_id", "columns": "entry_id, a_id, b_id"}


def players_of(experiments: Iterable[int]) -> dict[int, list[int]]:
    """Return {experiment: the nodes that played a role in it, in the order of their numbers}."""
    played: dict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(f"{_PLAYED} ORDER BY 1, 2", {"experiments": list(experiments)})
        for experiment, node in cursor.fetchall():
            played[experiment].append(node)
    return played


def keep_players(experiments: Iterable[int]) -> None:
    """Keep in the entries of experiments which nodes played a role."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP.format(wanted=_PLAYED, **_NODES), {"experiments": list(experiments)})


def keep_ends(roles: Mapping[int, Sequence[str]]) -> None:
    """Keep in the entries of experiments between which ends they measured; `roles` {experiment: its tool's}."""
    values: dict[str, Any] = {
        "experiments": list(roles),
        "roles": [strict_json.dumps(list(names)) for names in roles.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_KEEP.format(wanted=_ENDS, **_PAIRS), values)


def within(pks: Sequence[int], most_lanes: int) -> Iterator[int]:
    """Yield the first experiment, and the next ones as long as all of them have no more lanes than `most_lanes`."""
    rows = Lane.objects.filter(experiment__in=list(pks)).order_by().values_list("experiment")
    lanes = dict(rows.annotate(count=Count("pk")))
    total = 0
    for place, pk in enumerate(pks):
        total += lanes.get(pk, 0)
        if place and total > most_lanes:
            return
        yield pk
