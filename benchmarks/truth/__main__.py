"""Judge what the product says of simulated worlds, in a database that is there: python -m benchmarks.truth.

`python -m benchmarks truth` starts one and runs this within; options as there.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import django

django.setup()

from django.db import connection, transaction  # noqa: E402

from apps.accounts.models import Team  # noqa: E402
from benchmarks.truth import changes, output, rounds  # noqa: E402
from benchmarks.truth.tally import Tally  # noqa: E402
from benchmarks.truth.worlds.draw import FAMILIES, world_of  # noqa: E402

# A line of progress comes so often (s).
EVERY_S = 10.0
# So many histories of each kind tell how often a change is seen.
HISTORIES = 200


def parser() -> argparse.ArgumentParser:
    """Return the options of the verb."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks truth", description=__doc__.splitlines()[0])
    arguments.add_argument("--worlds", type=int, default=2000, help="how many worlds (2,000)")
    arguments.add_argument("--seed", type=int, default=1, help="the first world's seed; the next ones follow (1)")
    arguments.add_argument("--family", choices=sorted(FAMILIES), default="", help="worlds of one family only")
    arguments.add_argument("--histories", type=int, default=HISTORIES, help="how many histories of each kind (200)")
    arguments.add_argument("--json", type=Path, help="write all counts, and every false statement, to this file")
    arguments.add_argument("--show", nargs="+", metavar=("RULE", "K"), help="print K (5) worlds where RULE was wrong")
    return arguments


def main(words: Sequence[str]) -> int:
    """Run, print the tables, and return 0."""
    options = parser().parse_args(words)
    _keep_from_vacuum()
    tally = Tally()
    began = last_line = time.monotonic()
    worlds = (world_of(options.seed + place, options.family) for place in range(options.worlds))
    for heard in rounds.hear_all(worlds):
        tally.add(heard)
        now = time.monotonic()
        if now - last_line >= EVERY_S:
            last_line = now
            print(output.progress(tally, options.worlds, now - began), file=sys.stderr, flush=True)
    with transaction.atomic():
        team = Team.objects.create(name="Histories", slug="histories")
        tally.changes = list(changes.count_changes(team, options.histories, options.seed))
        transaction.set_rollback(True)
    for line in output.tables(tally):
        print(line)
    if options.show:
        for line in output.places(tally, options.show[0], int(options.show[1]) if len(options.show) > 1 else 5):
            print(line)
    if options.json:
        options.json.write_text(json.dumps(tally.as_json(), indent=1) + "\n", encoding="utf-8")
    return 0


def _keep_from_vacuum() -> None:
    """Have no table vacuumed while it seems empty, between worlds: plans for no rows look at all pairs."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = false)')


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
