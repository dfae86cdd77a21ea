"""An archive of many samples, and how long its pages take to answer: python -m benchmarks.archive SAMPLES.

Runs with the service's environment. Prints {page: {"small": s, "large": s, "queries": n, "loop": s}}: the 95th
percentile of each page's times with two campaigns of each pair of nodes, and with so many as hold SAMPLES, and how
long the machine took for a million additions then.
"""

import json
import math
import statistics
import sys
import time
import timeit
import zlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.accounts.models import Team, User  # noqa: E402
from apps.archive.search import entries  # noqa: E402
from apps.campaigns import services  # noqa: E402
from apps.campaigns.models import Campaign, Experiment, Lane  # noqa: E402
from apps.config import asgi  # noqa: E402
from apps.results.models import Sample  # noqa: E402
from apps.testbeds.models import Link, Node, NodeAddress, Site, Switch, Testbed  # noqa: E402
from benchmarks.pages import pages_of  # noqa: E402

TIMES = 20
# Campaigns in the small archive: two of each pair of nodes are the least that make a history.
SITES, NODES = 20, 2
FIRST = 2 * SITES * NODES
WINDOWS, STREAMS = 60, 50
POINTS = WINDOWS * STREAMS
# Of iperf3, whose results hold more; ten make the arithmetic easy.
METRICS = (
    "goodput", "sent_rate", "retransmits", "window_observed", "cwnd_max",
    "min_rtt", "mean_rtt", "max_rtt", "fairness", "cpu_local",
)  # fmt: skip

# Trials, their runs, results and samples, of the campaigns that have none yet: one run a trial, each of all metrics.
# Campaign after campaign, as they are measured.
TRIALS = """
INSERT INTO campaigns_trial (created_at, updated_at, campaign_id, experiment_id, lane_id, position, point, repetition,
    is_warmup, parameters, estimate_s, state, attempts, attempts_allowed, finished_at)
SELECT now(), now(), e.campaign_id, e.id, l.id, n, n, 0, false,
    jsonb_build_object('window', 65536 * (1 + n / %(streams)s), 'streams', 1 + n %% %(streams)s, 'duration', 10,
        'omit', 0, 'direction', 'forward', 'congestion', 'cubic', 'port', 5201),
    10, 'succeeded', 1, 1, c.finished_at
FROM campaigns_experiment e
JOIN campaigns_campaign c ON c.id = e.campaign_id
JOIN campaigns_lane l ON l.experiment_id = e.id
CROSS JOIN generate_series(0, %(points)s - 1) n
WHERE e.id > %(after)s
ORDER BY e.id, n
"""
RUNS = """
INSERT INTO campaigns_run (created_at, updated_at, trial_id, experiment_id, attempt, state, stage, stopping,
    started_at, ended_at)
SELECT now(), now(), t.id, t.experiment_id, 1, 'succeeded', 1, false, t.finished_at, t.finished_at
FROM campaigns_trial t WHERE t.experiment_id > %(after)s ORDER BY t.id
"""
RESULTS = """
INSERT INTO results_result (run_id, trial_id, experiment_id, tool, tool_version, requested, granted, observed, flags,
    recorded_at)
SELECT r.id, t.id, t.experiment_id, 'iperf3-tcp', '3.12', t.parameters, '{}', '{}', '[]', t.finished_at
FROM campaigns_trial t JOIN campaigns_run r ON r.trial_id = t.id WHERE t.experiment_id > %(after)s
ORDER BY t.id
"""
# A command on either node of each run, and what it printed.
JOBS = """
INSERT INTO agents_job (id, created_at, updated_at, node_id, run_ref, role, stage, argv, background, ready_pattern,
    optional, files, collect, environment, time_limit_s, output_limit_bytes, state, delivered_at, started_at,
    ended_at, exit_code, timed_out, fault, fault_detail, clock_offset_s, clock_error_s)
SELECT gen_random_uuid(), r.started_at, r.ended_at, (l.roles->role->>0)::bigint, r.id, role, 0,
    ARRAY['iperf3', '-J', '-w', t.parameters->>'window', '-P', t.parameters->>'streams'], false, '',
    false, '[]', '{}', '[]', 40, 16777216, 'ended', r.started_at, r.started_at,
    r.ended_at, 0, false, '', '', 1e-4, 1e-3
FROM campaigns_run r
JOIN campaigns_trial t ON t.id = r.trial_id
JOIN campaigns_lane l ON l.id = t.lane_id
CROSS JOIN unnest(ARRAY['server', 'client']) role
WHERE r.experiment_id > %(after)s ORDER BY r.id
"""
OUTPUTS = """
INSERT INTO agents_joboutput (job_id, stdout_z, stderr_z, stdout_bytes, stderr_bytes, truncated, telemetry_z)
SELECT j.id, %(printed)s, '', %(bytes)s, 0, false, ''
FROM agents_job j JOIN campaigns_run r ON r.id = j.run_ref WHERE r.experiment_id > %(after)s
"""
PRINTED = b'{"start": {}, "intervals": [], "end": {}}'
# The law of the window under a gigabit, with some noise.
SAMPLES = """
INSERT INTO results_sample (result_id, trial_id, experiment_id, metric, value)
SELECT r.id, r.trial_id, r.experiment_id, m,
    least(9.9e8, (r.requested->>'window')::float8 * 8 / 0.0048 * (r.requested->>'streams')::float8)
        * (0.97 + 0.06 * random())
FROM results_result r CROSS JOIN unnest(%(metrics)s::text[]) m WHERE r.experiment_id > %(after)s ORDER BY r.id
"""


def describe(team: Team) -> list[tuple[Node, Node]]:
    """Make sites on one exchange, with nodes; return pairs of nodes, each of two sites."""
    exchange = Switch.objects.create(team=team, name="Exchange", site=Site.objects.create(team=team, name="Exchange"))
    nodes = []
    for number in range(SITES):
        name = f"Site {number:02}"
        site = Site.objects.create(team=team, name=name)
        testbed = Testbed.objects.create(team=team, site=site, name=name)
        switch = Switch.objects.create(team=team, site=site, name=name)
        Link.objects.create(
            team=team, name=f"{name} line", a_switch=switch, b_switch=exchange, capacity_bps=10**9, rtt_s=0.0048
        )
        for place in range(NODES):
            node = Node.objects.create(team=team, testbed=testbed, name=f"archive-{number:02}-{place}")
            NodeAddress.objects.create(node=node, address=f"10.250.{number}.{place + 1}", confirmed_at=timezone.now())
            Link.objects.create(team=team, name=node.name, a_node=node, b_switch=switch, capacity_bps=10**9)
            nodes.append(node)
    return [(node, nodes[(place + 3 * NODES) % len(nodes)]) for place, node in enumerate(nodes)]


def fill(team: Team, user: User, pairs: Sequence[tuple[Node, Node]], campaigns: int) -> None:
    """Add so many finished campaigns of one sweep each, of 3,000 points, an hour apart; the pairs take turns."""
    after = Experiment.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    now = timezone.now()
    first = Campaign.objects.count()
    for number in range(first, first + campaigns):
        client, server = pairs[number % len(pairs)]
        campaign = services.create_campaign(team=team, user=user, now=now, name=f"Archive {number:04}")
        experiment = services.create_experiment(
            campaign=campaign,
            user=user,
            name="Window and streams",
            tool="iperf3-tcp",
            factors=[
                {"name": "window", "expression": f"64KiB..{64 * WINDOWS}KiB +64KiB"},
                {"name": "streams", "expression": f"1..{STREAMS}"},
            ],
            repetitions=1,
            roles=[services.Player("client", node=client), services.Player("server", node=server)],
        )
        roles = {"client": [client.pk], "server": [server.pk]}
        resources = [f"node:{client.pk}", f"node:{server.pk}"]
        Lane.objects.create(experiment=experiment, roles=roles, resources=resources)
        at = now - timedelta(hours=campaigns - number)
        Campaign.objects.filter(pk=campaign.pk).update(state="finished", launched_at=at, finished_at=at)
        Experiment.objects.filter(pk=experiment.pk).update(expanded_at=at)
    values: dict[str, int | list[str] | bytes] = {"after": after, "points": POINTS, "streams": STREAMS}
    values |= {"metrics": list(METRICS), "printed": zlib.compress(PRINTED), "bytes": len(PRINTED)}
    with connection.cursor() as cursor:
        # What refers to what is known here: checking each of millions of rows would take longer than writing them.
        cursor.execute("SET session_replication_role = replica")
        for statement in (TRIALS, RUNS, JOBS, OUTPUTS, RESULTS, SAMPLES):
            cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = origin")
    while entries.index_due(now=timezone.now()) == entries.BATCH:
        continue
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def measure(client: Client, pages: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return {page: {"p95": s, "queries": n, "loop": s}}; SystemExit if one does not answer."""
    figures = {}
    for name, address in pages.items():
        with CaptureQueriesContext(connection) as caught:
            answer = client.get(address)
            consume(answer)
        if answer.status_code != 200:
            raise SystemExit(f"{name} ({address}) answered {answer.status_code}")
        # Counted now: the next request forgets them.
        queries = len(caught)
        loop = timeit.timeit("x += 1", "x = 0", number=10**6)
        times = [seconds(client, address) for _time in range(TIMES)]
        figures[name] = {"p95": p95(times), "queries": queries, "loop": loop}
    return figures


def seconds(client: Client, address: str) -> float:
    """Return how long (s) a page takes to be answered whole."""
    began = time.perf_counter()
    consume(client.get(address))
    return time.perf_counter() - began


def consume(answer: Any) -> None:
    """Read an answer that is streamed."""
    if answer.streaming:
        for _part in answer.streaming_content:
            pass


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile of times (s)."""
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


def main() -> None:
    """Fill, measure and print."""
    wanted = int(sys.argv[1])
    team, user = Team.objects.get(), User.objects.get()
    # Loaded as the service itself is, so that pages answer as they do there.
    assert asgi.application
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(user)
    pairs = describe(team)
    fill(team, user, pairs, FIRST)
    small = measure(client, pages_of(team))
    fill(team, user, pairs, math.ceil(wanted / POINTS / len(METRICS)) - FIRST)
    large = measure(client, pages_of(team))
    samples = Sample.objects.count()
    pages = {
        name: {"small": small[name]["p95"], "large": item["p95"], "queries": item["queries"], "loop": item["loop"]}
        for name, item in large.items()
    }
    print(json.dumps({"samples": samples, "pages": pages}))


if __name__ == "__main__":
    main()
