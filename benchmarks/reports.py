"""The report of a campaign of many trials, rendered in this process: python -m benchmarks.reports TRIALS.

Runs with the service's environment, for the samples are made in bulk and not measured. Prints the times (s) of
"building" the document, of the "page" and of the "pdf", of "all" and of a "plain" list; "own_bytes" and
"program_bytes" are the most memory of this process and of the programs it started, "size" is the file's.
"""

import csv
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.utils import timezone, translation  # noqa: E402

from apps.accounts.models import Team, User  # noqa: E402
from apps.campaigns.models import Campaign  # noqa: E402
from apps.reports import drafts, services  # noqa: E402
from apps.reports.files import html, pdf  # noqa: E402
from apps.reports.files.base import Imprint  # noqa: E402
from apps.results.models import Sample  # noqa: E402
from apps.testbeds.models import Node, Site, Testbed  # noqa: E402
from benchmarks.comparison import measured  # noqa: E402

REPETITIONS = 5
# So many windows for each number of streams, as sweeps have them.
SHAPES = {1_000: (20, 10), 10_000: (50, 40)}


def made(trials: int) -> Campaign:
    """Make a finished campaign of so many trials."""
    windows, streams = SHAPES[trials]
    team = Team.objects.get()
    site = Site.objects.create(team=team, name=f"Reported {trials}")
    testbed = Testbed.objects.create(team=team, site=site, name=site.name)
    nodes = [Node.objects.create(team=team, testbed=testbed, name=f"reported-{trials}-{end}") for end in "ab"]
    return measured(
        team,
        site.name,
        nodes,
        1.0,
        windows=[65536 * step for step in range(1, windows + 1)],
        streams=range(1, streams + 1),
        repetitions=REPETITIONS,
    )


def plain_time(campaign: Campaign, path: Path) -> float:
    """Return how long (s) it takes to read a campaign's samples and to write them as lines."""
    started = time.perf_counter()
    rows = Sample.objects.filter(experiment__campaign=campaign).order_by("trial", "metric")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows.values_list("trial__position", "trial__parameters", "metric", "value"))
    return time.perf_counter() - started


def main() -> None:
    """Make the campaign, render its report, and print."""
    campaign, user = made(int(sys.argv[1])), User.objects.get()
    report = services.begin_report(campaign=campaign, user=user, language=settings.LANGUAGE_CODE)
    imprint = Imprint(None, "", "", timezone.now(), "https://fathom.example")
    signs: list[float] = []
    with tempfile.TemporaryDirectory() as name, translation.override(report.language):
        times = [time.perf_counter()]
        document = drafts.build(report, user)
        times.append(time.perf_counter())
        html.render(document)
        times.append(time.perf_counter())
        pdf.render(document, imprint, Path(name) / "report.pdf", signs.append)
        times.append(time.perf_counter())
        size = (Path(name) / "report.pdf").stat().st_size
        plain = plain_time(campaign, Path(name) / "plain.csv")
    own, programs = (
        1024 * resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    figures = {
        "trials": campaign.trials.count(),
        "building": times[1] - times[0],
        "page": times[2] - times[1],
        "pdf": times[3] - times[2],
        "all": times[3] - times[0],
        "plain": plain,
        "signs": len(set(signs)),
        "size": size,
        "own_bytes": own,
        "program_bytes": programs,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
