"""What `make bench` makes and asks for in a process of its own still answers, here over a few points."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from apps.accounts.models import Membership, Role, Team
from tests import factories
from tests.agents.live import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)

COMPARED = """
comparison.TURNS = 1
comparison.measured.__kwdefaults__ |= {"windows": [2**16, 2**17], "streams": [1, 2], "repetitions": 2}
"""
FILLED = """
archive.SITES, archive.FIRST, archive.TIMES = 4, 16, 2
archive.WINDOWS, archive.STREAMS, archive.POINTS = 2, 2, 4
"""
SAMPLES = 24 * 4 * 10


@pytest.fixture(autouse=True)
def team() -> Team:
    """The one team that a new service has, with its one manager."""
    team = Team.objects.create(name="Grid")
    Membership.objects.create(team=team, user=factories.user("alice"), role=Role.MANAGER)
    return team


def figures_of(module: str, smaller: str, *arguments: object) -> dict[str, Any]:
    """Return what a benchmark prints at its end: it loads the whole service, whose connections are not a test's."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.test",
        "DATABASE_URL": database_url(),
    }
    program = f"from benchmarks import {module}\n{smaller}\n{module}.main()"
    argv = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_page_of_a_comparison_is_timed() -> None:
    assert len(figures_of("comparison", COMPARED)["page"]) == 1


def test_a_report_is_timed() -> None:
    figures = figures_of("reports", "reports.SHAPES = {20: (2, 2)}", 20)
    assert figures["trials"] == 20
    assert figures["size"] > 1000


def test_pages_and_files_of_an_archive_are_timed() -> None:
    figures = figures_of("archive", FILLED, SAMPLES)
    assert figures["samples"] == SAMPLES
    assert figures["pages"]
    figures = figures_of("exports", "", SAMPLES)
    assert all(export["bytes"] for export in figures["exports"].values())
