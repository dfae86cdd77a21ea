"""Expansion of 10,000 points, in this process: python -m benchmarks.expansion, with the service's environment.

Prints {"checked": s, "loop": s, "points": n}: an experiment checked and previewed as the form and REST do it, and a
plain loop that makes as many points.
"""

import itertools
import json
import time

import django

django.setup()

from django.utils import timezone  # noqa: E402

from apps.accounts.models import Team  # noqa: E402
from apps.campaigns import queries, services  # noqa: E402
from apps.campaigns.models import Campaign, Experiment  # noqa: E402
from apps.testbeds.models import Node  # noqa: E402

WINDOWS, STREAMS = range(1, 101), range(1, 101)


def main() -> None:
    """Measure both and print them."""
    team = Team.objects.get()
    client, server = Node.objects.filter(team=team).order_by("pk")[:2]
    campaign = Campaign(team=team, name="Expansion")
    factors = [{"name": "window", "expression": "64KiB..6400KiB +64KiB"}, {"name": "streams", "expression": "1..100"}]
    experiment = Experiment(campaign=campaign, name="Expansion", tool="iperf3-tcp", factors=factors, repetitions=1)
    players = [services.Player("client", node=client), services.Player("server", node=server)]
    roles = services.players_of(experiment, players)
    started = time.perf_counter()
    preview = queries.preview_experiment(services.check_experiment(experiment, roles), now=timezone.now())
    checked = time.perf_counter() - started
    started = time.perf_counter()
    points = [
        {"window": 65536 * window, "streams": streams} for window, streams in itertools.product(WINDOWS, STREAMS)
    ]
    loop = time.perf_counter() - started
    if preview.points != len(points):
        raise SystemExit(f"{preview.points} points instead of {len(points)}")
    print(json.dumps({"checked": checked, "loop": loop, "points": preview.points}))


if __name__ == "__main__":
    main()
