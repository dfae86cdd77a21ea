"""Whatever an agent reports, its run ends: with figures within bounds, or with the reason; the output stays."""

import dataclasses
import json
import math
import re
from random import Random
from types import SimpleNamespace

import pytest
from django.test import Client

from apps.agents.models import Job
from apps.campaigns.models import Run
from apps.core.models import SetAside
from apps.results import services
from apps.results.models import Result, Sample, Series
from apps.testbeds.models import Node
from tests.bench.tools import recordings
from tests.workers import factories as agents
from workers import carry_out

_FIGURE = re.compile(rb'("[a-z_]+":\s*)(-?\d[\d.e+]*)')
_TEXT = re.compile(rb'("[a-z_]+":\s*)"[^"]*"')
FIGURES = (
    *(b"1e308", b"-1e308", b"1e999", b"9" * 4000, b"9" * 5000, b"-5", b"NaN", b"-Infinity", b"null", b"[]", b"true"),
)
TEXTS = (b'"\\u0000"', b'"\\ud800"', b'"' + b"x" * 100_000 + b'"', b"7", b"{}", b'"\x00"')


def broken(text: bytes, pattern: re.Pattern[bytes], evil: bytes, share: float, draw: Random) -> bytes:
    """Return an output in which a share of what a pattern finds is something else."""
    return pattern.sub(lambda found: found[1] + evil if draw.random() < share else found[0], text)


@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
@pytest.mark.parametrize(
    ("pattern", "evil"),
    [(_FIGURE, evil) for evil in FIGURES] + [(_TEXT, evil) for evil in TEXTS],
    ids=lambda value: str(value)[:14] if isinstance(value, bytes) else "",
)
def test_the_run_ends_and_says_why_its_figures_were_not_taken(
    pattern: re.Pattern[bytes], evil: bytes, share: float, cast: SimpleNamespace, pair: list[Node], client: Client
) -> None:
    run = agents.start(cast, pair, fixed={"duration": "4 s", "omit": "1 s"}, max_attempts=1)
    agents.listen(run)
    whole = recordings.load("iperf3-tcp", "winsweep_pnu/w64K_cubic_r1.json")
    printed = broken(whole.stdout, pattern, evil, share, Random(f"{evil!r} {share}"))
    agents.measure(run, dataclasses.replace(whole, stdout=printed))
    carry_out.advance(run.pk)
    run.refresh_from_db()
    assert run.state in (Run.State.SUCCEEDED, Run.State.FAILED)
    assert not SetAside.objects.exists()
    assert services.printed_by(Job.objects.get(run_ref=run.pk, role="client"))["stdout"] == printed
    if run.state == Run.State.FAILED:
        assert run.reason["message"]["msgid"]
        assert not Result.objects.exists()
    for value in Sample.objects.values_list("value", flat=True):
        assert math.isfinite(value) and 0 <= value <= 1e60
    for series in Series.objects.all():
        assert all(math.isfinite(value) and abs(value) <= 1e60 for value in (*series.times, *series.values))
    for result in Result.objects.all():
        json.dumps([result.requested, result.granted, result.observed, result.flags], allow_nan=False)
    client.force_login(cast.bob)
    assert client.get(f"/results/trials/{run.trial_id}/").status_code == 200
