"""An archive: two sweeps between two sites, one on the nodes of a third, one of storage, and another team's."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from apps.archive.search import entries
from apps.archive.search.conditions import known_to
from apps.archive.search.queries import find
from apps.archive.search.state import read_text
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.results.models import Result, Sample
from apps.testbeds.models import FileSystem, Mount, Node
from tests import factories
from tests.campaigns import factories as make

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
LATER = START + timedelta(days=400)


def figures(campaign: Campaign, rates: list[float], at: datetime, **metrics: float) -> None:
    """Give the trials of a campaign goodputs (bit/s), one after the other, and other figures."""
    Campaign.objects.filter(pk=campaign.pk).update(launched_at=at, finished_at=at, state="finished")
    for place, trial in enumerate(campaign.trials.select_related("experiment")):
        add(trial, at + timedelta(minutes=place), goodput=rates[place % len(rates)], **metrics)


def add(trial: Trial, at: datetime, flags: Any = (), **metrics: float) -> Result:
    """Give a trial a result with these figures."""
    run = trial.runs.create(experiment=trial.experiment, attempt=trial.runs.count() + 1, state="succeeded")
    result = Result.objects.create(
        run=run, trial=trial, experiment=trial.experiment, tool=trial.experiment.tool, flags=list(flags)
    )
    Sample.objects.bulk_create(
        Sample(result=result, trial=trial, experiment=trial.experiment, metric=name, value=value)
        for name, value in metrics.items()
    )
    Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=at)
    return result


def index() -> int:
    """Index all that is due."""
    return entries.index_due(now=datetime.now(UTC), limit=1000)


def names(archive: SimpleNamespace, query: str, user: Any = None) -> list[str]:
    """Return the names of the campaigns that a query finds, in the order of the page; refuse what cannot be read."""
    user = user or archive.cast.bob
    search, errors = read_text(query, known_to(user))
    assert not errors, errors
    return [entry.experiment.campaign.name for entry in find(search, user).select_related("experiment__campaign")]


@pytest.fixture(scope="module")
def archive(django_db_setup: None, django_db_blocker: Any) -> Iterator[SimpleNamespace]:
    """Yield the indexed archive, made once for all tests of a module: what they do to it, they undo."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield build()
        transaction.set_rollback(True)


def build() -> SimpleNamespace:
    """Make the archive and index it."""
    cast = factories.cast()
    [kisti] = make.nodes(cast.team, "kisti01")
    [pnu] = make.nodes(cast.team, "pnu01", site="Busan")
    [knu] = make.nodes(cast.team, "knu01", site="Daegu")
    cluster = make.cluster(cast.team, "KISTI storage", kisti)
    gpfs = FileSystem.objects.create(team=cast.team, name="gpfs0", kind="gpfs", mount_path="/gpfs")
    Mount.objects.create(file_system=gpfs, cluster=cluster)
    windows = make.launched(cast, kisti, pnu, name="Window sweep")
    figures(windows, [1e8, 9e8, 1.1e8, 9.2e8], START, retransmits=3.0)
    back = make.launched(cast, pnu, kisti, name="Way back", factors=[{"name": "streams", "expression": "1, 4, 16"}])
    figures(back, [5e8], START + timedelta(days=30))
    third = make.launched(cast, kisti, knu, name="대구 회선", fixed={"duration": "2 s", "direction": "reverse"})
    figures(third, [2e8], START + timedelta(days=60))
    disks = make.campaign(cast, name="Disks")
    values = {"file_system": gpfs, "fixed": {}, "factors": [], "repetitions": 1}
    values["name"] = "sequential"
    draft = make.services.create_experiment(
        campaign=disks, user=cast.oscar, tool="ior", roles=make.players(node=[kisti]), context=False, **values
    )
    disks = make.services.launch_campaign(campaign=disks, user=cast.oscar, now=START)
    Campaign.objects.filter(pk=disks.pk).update(state="finished", finished_at=START, origin="published")
    [far] = make.nodes(cast.other_team, "far01", site="Elsewhere")
    [away] = make.nodes(cast.other_team, "away01", site="Elsewhere")
    others = SimpleNamespace(team=cast.other_team, oscar=cast.charlie)
    theirs = make.launched(others, far, away, name="Theirs")
    figures(theirs, [3e8], START)
    assert index() == 5
    return SimpleNamespace(
        cast=cast, kisti=kisti, pnu=pnu, knu=knu, cluster=cluster, gpfs=gpfs, windows=windows, back=back,
        third=third, disks=disks, ior=draft, theirs=theirs,
    )  # fmt: skip


def experiment_of(campaign: Campaign) -> Experiment:
    """Return the only experiment of a campaign."""
    return campaign.experiments.get()


def sites(a: Node, b: Node) -> str:
    """Return the two nodes' sites as addresses write them."""
    return "-".join(map(str, sorted((a.testbed.site_id, b.testbed.site_id))))
