"""What `make bench` makes and asks for in a process of its own still answers, here over a few points."""

import json
import sys
from typing import Any

import pytest

from apps.accounts.models import Membership, Role, Team
from benchmarks import archive, comparison, exports, reports
from tests import factories


@pytest.fixture
def team() -> Team:
    """The one team that a new service has, with its one manager."""
    team = Team.objects.create(name="Grid")
    Membership.objects.create(team=team, user=factories.user("alice"), role=Role.MANAGER)
    return team


def figures_of(module: Any, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return what a benchmark prints at its end."""
    module.main()
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.django_db
@pytest.mark.usefixtures("team")
def test_the_page_of_a_comparison_is_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(comparison, "TURNS", 1)
    monkeypatch.setattr(
        comparison.measured, "__kwdefaults__", {"windows": [2**16, 2**17], "streams": [1, 2], "repetitions": 2}
    )
    figures = figures_of(comparison, capsys)
    assert len(figures["page"]) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("team")
def test_a_report_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(reports, "SHAPES", {20: (2, 2)})
    monkeypatch.setattr(sys, "argv", ["reports", "20"])
    figures = figures_of(reports, capsys)
    assert figures["trials"] == 20
    assert figures["size"] > 1000


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("team")
def test_pages_and_files_of_an_archive_are_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"SITES": 4, "FIRST": 16, "WINDOWS": 2, "STREAMS": 2, "POINTS": 4, "TIMES": 2}.items():
        monkeypatch.setattr(archive, name, value)
    samples = 24 * archive.POINTS * len(archive.METRICS)
    monkeypatch.setattr(sys, "argv", ["archive", str(samples)])
    figures = figures_of(archive, capsys)
    assert figures["samples"] == samples
    assert figures["pages"]
    figures = figures_of(exports, capsys)
    assert all(export["bytes"] for export in figures["exports"].values())
