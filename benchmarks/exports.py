"""How fast ten million samples leave, beside PostgreSQL's own COPY: python -m benchmarks.exports SAMPLES.

Runs with the service's environment. Prints {"samples", "exports": {form: {"s", "bytes", "copy_s"}}, "peak_bytes",
"archive": {"s", "bytes", "trials"}}. Times are of reading all that is sent, in this process; `copy_s` is the mean of
a COPY before and one after; `peak_bytes` is the most memory the process ever held (the Parquet program's apart).
"""

import json
import math
import resource
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402
from django.http import QueryDict  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.accounts.models import Team, User  # noqa: E402
from apps.archive.campaigns.writer import archive_of  # noqa: E402
from apps.archive.exports import package  # noqa: E402
from apps.archive.exports.selection import ExportSelection, read_selection  # noqa: E402
from apps.campaigns.models import Campaign  # noqa: E402
from apps.results.models import Sample  # noqa: E402
from benchmarks import archive  # noqa: E402

# COPY of the plain table, read and dropped by the client.
COPY = "COPY results_sample TO STDOUT (FORMAT csv)"
# Samples come into the archive run after run; written in bulk, the runs of all campaigns lie mixed up on the disk.
TABLES = ("campaigns_trial", "results_result", "results_sample")


def fill(samples: int) -> None:
    """Make an archive of at least so many samples."""
    team, user = Team.objects.get(), User.objects.get()
    archive.fill(team, user, archive.describe(team), math.ceil(samples / archive.POINTS / len(archive.METRICS)))


def lay_out() -> None:
    """Lay the rows on the disk as measuring does: run after run."""
    with connection.cursor() as cursor:
        for table in TABLES:
            key = "result_id, id" if table == "results_sample" else "id"
            cursor.execute(f"CREATE INDEX benchmark_order ON {table} (experiment_id, {key})")
            cursor.execute(f"CLUSTER {table} USING benchmark_order")
            cursor.execute("DROP INDEX benchmark_order")
        cursor.execute("VACUUM ANALYZE")


def taken(make: Callable[[], Iterable[Any]]) -> tuple[float, int]:
    """Return how long (s) it takes to read all that is made, and how many bytes it is."""
    began = time.perf_counter()
    size = sum(len(piece) for piece in make())
    return time.perf_counter() - began, size


def copied() -> Iterable[Any]:
    """Yield the samples as PostgreSQL writes them by itself."""
    with connection.cursor() as cursor, cursor.copy(COPY) as copy:
        yield from copy


def forms_of(selection: ExportSelection) -> dict[str, Callable[[], Iterable[Any]]]:
    """Return {name: what makes it} of each form in which a selection leaves."""
    now = timezone.now()
    forms: dict[str, Callable[[], Iterable[Any]]] = {}
    for ending in package.ENDINGS:
        forms[f"one table as {ending}"] = partial(package.table_of, selection, "iperf3-tcp", ending)
        forms[f"data package of {ending}"] = partial(package.package_of, selection, ending, now=now, address="")
    return forms


def main() -> None:
    """Fill, measure and print."""
    if Sample.objects.count() < int(sys.argv[1]):
        fill(int(sys.argv[1]))
    lay_out()
    selection = read_selection(QueryDict("set=tool:iperf3-tcp"), User.objects.get())
    exports = {}
    copy, _size = taken(copied)
    for name, make in forms_of(selection).items():
        seconds, size = taken(make)
        again, _size = taken(copied)
        exports[name] = {"s": seconds, "bytes": size, "copy_s": (copy + again) / 2}
        copy = again
    campaign = Campaign.objects.order_by("pk").first()
    assert campaign
    seconds, size = taken(lambda: archive_of(campaign, now=timezone.now()))
    document = {
        "samples": Sample.objects.count(),
        "exports": exports,
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "archive": {"s": seconds, "bytes": size, "trials": campaign.trials.count()},
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
