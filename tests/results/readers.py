"""A campaign with figures of every kind, and every place where figures are read: what each of them tells."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.search import entries
from apps.bench.text import Message
from apps.bench.toolkit import Flag
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.reports import campaign as reports
from apps.reports.document import Table, walk
from apps.results import queries, validity
from apps.results.addresses import point_key
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from apps.tuning import evidence
from apps.tuning import queries as tuning
from apps.tuning.prediction import queries as prediction
from tests.campaigns import factories as make
from workers import stages

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
# What counts has this mean, of so many figures at each of two points; of retransmits all but one count.
MEAN, COUNTED, POINTS = 110e6, 3, 2
# What none may show as a figure: nothing that does not count is below this.
LEAST_LEFT_OUT = 5e9
# By repetition, 0 is the warm-up: goodput, and the flags as (name, severity, metrics).
KINDS: dict[int, tuple[float, tuple[tuple[str, str, tuple[str, ...]], ...]]] = {
    0: (9e9, ()),
    1: (100e6, ()),
    2: (8e9, (("stalled", "invalid", ()),)),
    3: (7e9, (("stalled", "invalid", ("goodput",)),)),
    4: (110e6, (("odd-counter", "invalid", ("retransmits",)),)),
    5: (6e9, ()),
    6: (120e6, (("sender-too-slow", "warning", ()), ("verified", "info", ()))),
}
MARKED = 5


@dataclass(frozen=True)
class World:
    """The campaign, who may see it, and a client of that person."""

    cast: SimpleNamespace
    campaign: Campaign
    pair: list[Node]
    client: Client

    @property
    def experiment(self) -> Experiment:
        """Return its only experiment."""
        return self.campaign.experiments.get()

    @property
    def lane(self) -> int:
        """Return the only lane."""
        return self.experiment.lanes.get().pk

    def json(self, address: str, **query: str) -> Any:
        """Return what an address answers as JSON."""
        answer = self.client.get(address, query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def text(self, address: str, **query: str) -> str:
        """Return what an address answers as text."""
        answer = self.client.get(address, query)
        assert answer.status_code == 200, answer.content
        return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def build(cast: SimpleNamespace, pair: list[Node], client: Client) -> World:
    """Make the world: a sweep of two windows, one warm-up and six repetitions each, of every kind of figure."""
    factors = [{"name": "window", "expression": "64KiB, 1MiB"}]
    campaign = make.launched(cast, *pair, factors=factors, repetitions=6, warmups=1, context=False)
    Campaign.objects.filter(pk=campaign.pk).update(launched_at=START, finished_at=START, state="finished")
    turns: dict[int, int] = {}
    for place, trial in enumerate(campaign.trials.select_related("experiment").order_by("position")):
        turn = 0 if trial.is_warmup else turns.setdefault(trial.point, 1)
        turns[trial.point] = turns.get(trial.point, 1) + (0 if trial.is_warmup else 1)
        measure_as(trial, turn, START + timedelta(minutes=place))
        if turn == MARKED:
            validity.mark_invalid(trial=trial, user=cast.oscar, reason="Loose cable", now=timezone.now())
    campaign.refresh_from_db()
    entries.index_due(now=timezone.now(), limit=100)
    client.force_login(cast.bob)
    return World(cast, campaign, pair, client)


def measure_as(trial: Trial, turn: int, at: datetime) -> None:
    """Give a trial the figures and flags of a kind."""
    goodput, flags = KINDS[turn]
    run = trial.runs.create(experiment=trial.experiment, attempt=1, state="succeeded")
    result = Result.objects.create(
        run=run,
        trial=trial,
        experiment=trial.experiment,
        tool=trial.experiment.tool,
        recorded_at=at,
        flags=[
            Flag(name, gravity, Message(f"Words of {name}"), metrics).as_json() for name, gravity, metrics in flags
        ],
    )
    Sample.objects.bulk_create(
        Sample(result=result, trial=trial, experiment=trial.experiment, metric=metric, value=value)
        for metric, value in {"goodput": goodput, "retransmits": float(turn)}.items()
    )
    Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=at)


Told = list[tuple[float, int]]


def _table(world: World) -> Told:
    found = world.json(f"/api/v1/experiments/{world.experiment.pk}/results/")
    return [(group["mean"], group["n"]) for group in found["groups"]]


def _chart(world: World) -> Told:
    found = world.json(reverse("results:experiment_data", args=[world.experiment.pk]))
    return [(point["y"], len(point["points"])) for series in found["series"] for point in series["points"]]


def _comparison(world: World) -> Told:
    found = world.json(f"/api/v1/comparison/?set=experiment:{world.experiment.pk}&metric=goodput")
    return [(row["value"], row["n"]) for row in found["rows"]]


def _history(world: World) -> Told:
    trials = world.campaign.trials.order_by("point").distinct("point")
    addresses = (f"/api/v1/histories/{world.lane}/?point={point_key(trial.parameters)}" for trial in trials)
    return [
        (level["mean"], level["n"])
        for address in addresses
        for level in world.json(f"{address}&metric=goodput")["levels"]
    ]


def _matrix(world: World) -> Told:
    found = world.json("/api/v1/matrix/?metric=goodput")
    return [(cell["value"], cell["samples"]) for cell in found["cells"]] * POINTS


def _search(world: World) -> Told:
    [hit] = world.json("/api/v1/archive/")["results"]
    [figure] = hit["figures"]
    return [(figure["low"], figure["n"] // POINTS), (figure["high"], figure["n"] // POINTS)]


def _already(world: World) -> Told:
    planned = make.experiment(
        make.campaign(world.cast, name="Planned"), *world.pair, factors=world.experiment.factors, context=False
    )
    [found] = world.json(f"/api/v1/experiments/{planned.pk}/already/")["earlier"]
    return [(found["low"], found["n"] // POINTS), (found["high"], found["n"] // POINTS)]


def _evidence(world: World) -> Told:
    (found,) = evidence.by_ends(world.campaign).values()
    return [_mean(point.values("goodput")) for point in found.points]


def _values(world: World) -> Told:
    found = queries.values_of(world.experiment, "goodput", lane=world.lane)
    return [_mean(values) for values in found.values()]


def _blocks(world: World) -> Told:
    pairs = tuning.blocks_of(world.experiment, "goodput").pairs
    return [_mean([now for now, _then in pairs]), _mean([then for _now, then in pairs])]


def _stages(world: World) -> Told:
    [values] = stages.measured_by(world.experiment, "goodput").values()
    mean, n = _mean(values)
    return [(mean, n // POINTS)] * POINTS


def _prediction(world: World) -> Told:
    page = world.client.get(reverse("tuning:predict", args=[world.experiment.pk]), {"window": "64 KiB"})
    rows = prediction._rows(page.context["asked"])
    return [(rate, len(trials)) for _setting, rate, trials, *_interval in rows]


def _samples(world: World) -> Told:
    rows = json.loads(world.text(f"/api/v1/experiments/{world.experiment.pk}/samples.json"))
    return _by_point((row["point"], row["value"]) for row in rows if row["metric"] == "goodput" and row["counts"])


def _results(world: World) -> Told:
    point = dict(world.campaign.trials.values_list("pk", "point"))
    found = world.json(f"/api/v1/results/?experiment={world.experiment.pk}&page_size=100")["results"]
    return _by_point(
        (point[result["trial"]], sample["value"])
        for result in found
        for sample in result["samples"]
        if sample["metric"] == "goodput" and sample["counts"]
    )


def _export(world: World) -> Told:
    text = world.text("/exports/tables/iperf3-tcp.csv", set=f"campaign:{world.campaign.pk}")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return _by_point(
        (row["point"], float(row["goodput"])) for row in rows if "goodput" not in row["not_counted"].split()
    )


def _report(world: World) -> Told:
    document = reports.build([world.campaign], user=world.cast.bob, language="en")
    table = next(block for block in walk(document) if isinstance(block, Table) and block.figures)
    behind = table.figures or {}
    [column] = [name for name in behind if table.columns[int(name)].unit == "Mbit/s"]
    return [(1e6 * row[int(column)], len(figures)) for row, figures in zip(table.rows, behind[column], strict=True)]


def _by_point(pairs: Any) -> Told:
    found: dict[int, list[float]] = {}
    for point, value in pairs:
        found.setdefault(point, []).append(value)
    return [_mean(values) for values in found.values()]


def _mean(values: Any) -> tuple[float, int]:
    listed = list(values)
    return sum(listed) / len(listed), len(listed)


# Whoever reckons with figures: each gives (mean, number) of goodput at both points.
FIGURES: Mapping[str, Callable[[World], Told]] = {
    "REST table": _table, "chart": _chart, "comparison": _comparison, "history": _history, "matrix": _matrix,
    "search": _search, "measured already": _already, "rules' evidence": _evidence, "precision and search": _values,
    "verification": _blocks, "stages": _stages, "prediction": _prediction, "samples": _samples, "results": _results,
    "export": _export, "report": _report,
}  # fmt: skip


def pages(world: World) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the pages that show figures, {name: (address, query)}."""
    experiment = world.experiment.pk
    return {
        "panel": (reverse("results:experiment_panel", args=[experiment]), {"metric": "goodput"}),
        "experiment": (reverse("results:experiment", args=[experiment]), {"metric": "goodput"}),
        "comparison": (reverse("comparison:compare"), {"set": f"experiment:{experiment}", "metric": "goodput"}),
        "history": (reverse("history:detail", args=[world.lane]), {"metric": "goodput"}),
        "matrix": (reverse("matrix:matrix"), {"metric": "goodput"}),
        "archive": (reverse("archive:search"), {}),
        "landing": (reverse("landing:campaign", args=[world.campaign.permanent_id]), {}),
    }
