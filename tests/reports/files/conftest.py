"""A frozen edition, and a place for files."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.reports import services
from apps.reports.models import Edition, Report
from tests.reports import documents


@pytest.fixture
def edition(cast: SimpleNamespace, settings: Settings, tmp_path: Path) -> Edition:
    """Return an edition of the team's report, whose files go into a folder of the test's own."""
    settings.VAR_DIR = tmp_path
    report = Report.objects.create(team=cast.team, language="en", title="Windows")
    return services.keep_edition(report=report, document=documents.document(), user=cast.oscar, now=timezone.now())
