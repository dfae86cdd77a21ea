"""A campaign measured from recordings, with what two rules conclude of it."""

import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any

import pytest
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.tuning import services as tuning
from tests.results.conftest import measured, pair  # noqa: F401  (fixtures)


@pytest.fixture
def finished(measured: Campaign) -> Campaign:  # noqa: F811
    """Return the measured campaign once conclusions were drawn."""
    tuning.refresh_findings(campaign=measured)
    Campaign.objects.filter(pk=measured.pk).update(analysed_at=timezone.now())
    measured.refresh_from_db()
    return measured


def whole(answer: Any) -> bytes:
    """Return all that an answer sent."""
    assert answer.status_code == 200, answer
    return b"".join(answer.streaming_content)


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return {path: content} of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def lines(data: bytes) -> list[Any]:
    """Return the values of JSON Lines."""
    return [json.loads(line) for line in data.splitlines()]


def repacked(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()
