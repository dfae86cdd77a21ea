"""Two campaigns of 3,000 points each, compared in this process: python -m benchmarks.comparison.

Runs with the service's environment, for the samples are made in bulk and not measured. Prints {"page": [s], "plain":
s, "points", "queries"}: the comparison's page as the browser gets it, and a plain read of the same samples.
"""

import json
import random
import statistics
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import django

django.setup()

from django.db import connection, reset_queries  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.accounts.models import Team, User  # noqa: E402
from apps.campaigns.models import Campaign, Experiment, Lane, Run, Trial  # noqa: E402
from apps.config import web  # noqa: E402
from apps.results.models import Result, Sample  # noqa: E402
from apps.testbeds.models import Node, Site, Testbed  # noqa: E402

WINDOWS = [65536 * step for step in range(1, 101)]
STREAMS = range(1, 31)
REPETITIONS = 3
TURNS = 12
# What a trial of iperf3 keeps beside the two factors.
FIXED = {
    "duration": 10.0,
    "omit": 1.0,
    "interval": 1.0,
    "direction": "forward",
    "congestion_control": "",
    "mss": None,
}


def measured(
    team: Team,
    name: str,
    nodes: list[Node],
    factor: float,
    *,
    windows: Sequence[int] = WINDOWS,
    streams: Sequence[int] = STREAMS,
    repetitions: int = REPETITIONS,
) -> Campaign:
    """Make a finished campaign in which each point was measured a few times."""
    now = timezone.now()
    campaign = Campaign.objects.create(
        team=team, name=name, state="finished", launched_at=now - timedelta(hours=9), finished_at=now
    )
    factors = [{"name": "window", "expression": "…"}, {"name": "streams", "expression": "…"}]
    experiment = Experiment.objects.create(campaign=campaign, name=name, tool="iperf3-tcp", factors=factors)
    roles = {"client": [nodes[0].pk], "server": [nodes[1].pk]}
    lane = Lane.objects.create(experiment=experiment, roles=roles, resources=[])
    points = [{"window": window, "streams": count, **FIXED} for window in windows for count in streams]
    common = {"campaign": campaign, "experiment": experiment, "lane": lane, "state": "succeeded", "finished_at": now}
    trials = Trial.objects.bulk_create(
        (
            Trial(**common, position=turn * len(points) + point, point=point, repetition=turn + 1, parameters=values)
            for turn in range(repetitions)
            for point, values in enumerate(points)
        ),
        batch_size=2000,
    )
    runs = Run.objects.bulk_create(
        (Run(trial=trial, experiment=experiment, attempt=1, state="succeeded") for trial in trials), batch_size=2000
    )
    results = Result.objects.bulk_create(
        (Result(run=run, trial=run.trial, experiment=experiment, tool="iperf3-tcp") for run in runs), batch_size=2000
    )
    source = random.Random(len(name))  # noqa: S311 - figures to compare, not a secret
    Sample.objects.bulk_create(
        (
            Sample(result=result, trial=result.trial, experiment=experiment, metric=metric, value=value)
            for result in results
            for metric, value in (
                ("goodput", factor * source.gauss(1, 0.02) * min(990e6, result.trial.parameters["window"] * 1500)),
                ("retransmits", float(source.randrange(50))),
            )
        ),
        batch_size=5000,
    )
    return campaign


def page_times(user: User, address: str) -> tuple[list[float], int]:
    """Return how long (s) the page takes each time, once everything is loaded, and how many queries it makes."""
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    times = []
    connection.force_debug_cursor = True
    for _turn in range(TURNS + 1):
        reset_queries()
        started = time.perf_counter()
        answer = client.get(address)
        times.append(time.perf_counter() - started)
        if answer.status_code != 200 or b"comparison-table" not in answer.content:
            raise SystemExit(f"{address} answered {answer.status_code}")
    return times[1:], len(connection.queries)


def plain_time(campaigns: list[Campaign]) -> float:
    """Return how long (s) it takes to read the same samples one by one and to take their means."""
    started = time.perf_counter()
    figures: dict[tuple[Any, ...], list[float]] = {}
    rows = Sample.objects.filter(experiment__campaign__in=campaigns, metric="goodput")
    for campaign, point, value in rows.values_list("experiment__campaign", "trial__point", "value"):
        figures.setdefault((campaign, point), []).append(value)
    for values in figures.values():
        statistics.fmean(values)
    return time.perf_counter() - started


def main() -> None:
    """Make both campaigns, measure, and print."""
    team, user = Team.objects.get(), User.objects.get()
    # Loaded as the service itself is, so that pages answer as they do there.
    assert web.application
    site = Site.objects.create(team=team, name="Compared")
    testbed = Testbed.objects.create(team=team, site=site, name="Compared")
    nodes = [Node.objects.create(team=team, testbed=testbed, name=name) for name in ("compared-a", "compared-b")]
    campaigns = [measured(team, name, nodes, factor) for name, factor in (("Compared", 1.0), ("Compared again", 1.1))]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    sets = "&".join(f"set=campaign:{campaign.pk}" for campaign in campaigns)
    times, queries = page_times(user, f"/compare/?{sets}&x=window&by=streams")
    plain = statistics.median(plain_time(campaigns) for _turn in range(3))
    points = len(WINDOWS) * len(STREAMS)
    print(json.dumps({"page": times, "plain": plain, "points": points, "queries": queries}))


if __name__ == "__main__":
    main()
