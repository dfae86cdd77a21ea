"""Imports of an earlier version, which stored the tools' defaults as if they had been told."""

import importlib
from types import SimpleNamespace

from django.apps import apps
from django.db import connection

from apps.bench.sweep import likeness
from apps.campaigns.models import Experiment, Trial
from apps.results.models import Result
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from tests import rewriting
from tests.archive.imports import test_not_told as now


def test_what_was_told_is_kept_and_the_rest_is_taken_out(cast: SimpleNamespace, ends: list[Node]) -> None:
    campaign = now.stored(now.table(cast, now.REPEATED, streams=now.STREAMS, goodput=now.GOODPUT), ends)
    wanted = {trial.pk: trial.parameters for trial in campaign.trials.all()}
    sweep = Experiment.objects.values("fixed", "factors", "zips").get(campaign=campaign)
    tool = toolbox.get_tool("iperf3-tcp")
    for trial in campaign.trials.all():
        old = tool.clean({"streams": trial.parameters["streams"]})
        rewriting.update(Trial.objects.filter(pk=trial.pk), parameters=old, point=[1, 2, 4].index(old["streams"]))
        rewriting.update(Result.objects.filter(trial=trial), requested=old)
    Experiment.objects.filter(campaign=campaign).update(fixed={"window": "0B"}, factors=[], zips=[])
    type(campaign).objects.filter(pk=campaign.pk).update(analysed_at=campaign.finished_at)
    importlib.import_module("apps.archive.migrations.0004_what_imports_told").tell(
        apps, SimpleNamespace(connection=connection)
    )
    assert {trial.pk: trial.parameters for trial in campaign.trials.all()} == wanted
    assert sorted(trial.point for trial in campaign.trials.all()) == [0, 1, 2, 3, 4]
    assert {tuple(result.requested) for result in Result.objects.all()} == {("streams",)}
    assert Experiment.objects.values("fixed", "factors", "zips").get(campaign=campaign) == sweep
    campaign.refresh_from_db()
    assert campaign.analysed_at is None
    assert all(likeness.AS_IN in trial.parameters for trial in campaign.trials.all())
