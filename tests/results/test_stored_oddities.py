"""A trial's page passes over what archives once brought, and which no agent and no archive brings any more."""

import re
import zlib
from types import SimpleNamespace

import pytest
from django.test import Client

from apps.agents.models import Job, JobFile, JobOutput
from apps.results.models import Result, Sample, Series
from apps.testbeds.models import Node
from tests import rewriting
from tests.workers.factories import listen, measure, start
from workers import carry_out


@pytest.mark.parametrize("name", ["a b", "../../x", "", "a/b", "ü", 'a"b', "a\r\nX: 1"])
def test_files_of_odd_names_and_figures_of_no_metric_break_no_page(
    cast: SimpleNamespace, pair: list[Node], client: Client, name: str
) -> None:
    run = start(cast, pair)
    listen(run)
    measure(run)
    carry_out.advance(run.pk)
    result = Result.objects.get()
    JobFile.objects.create(job=Job.objects.filter(run_ref=run.pk)[0], name=name, content_z=b"", size=0)
    own = {"result": result, "metric": "nosuch"}
    Sample.objects.create(trial_id=result.trial_id, experiment_id=result.experiment_id, value=1.0, **own)
    Series.objects.create(stream="", unit="s", times=[1.0], values=[1.0], **own)
    endless = zlib.compress(b'{"cpu": {"load": [1e999, -1e999]}, "any": 1e999}')
    rewriting.update(JobOutput.objects.filter(job__run_ref=run.pk), telemetry_z=endless)
    client.force_login(cast.alice)
    for path in (f"/results/trials/{run.trial_id}/", f"/api/v1/runs/{run.pk}/", f"/api/v1/runs/{run.pk}/telemetry/"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        if path.startswith("/api/"):
            assert not re.search(rb"Infinity|NaN", answer.content), path
