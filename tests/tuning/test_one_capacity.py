"""One path has one capacity: what came through it in another campaign is a lower bound that every finding weighs."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.bench.rules import ask_ends
from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.runner import drafts_of
from apps.bench.rules.tcp.path import read_capacity
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.results.models import Result
from apps.testbeds.models import Link, Node
from apps.tuning import evidence
from tests import rewriting, sayings
from tests.campaigns import factories as make
from tests.results.factories import measure

# By packet dispersion, and what came through whole of datagrams.
DISPERSED = {"capacity": 457e6, "capacity_low": 450e6, "capacity_high": 457e6, "variation": 0.05}
CLEAN = {"goodput": 622e6, "offered_load": 622e6, "loss": 0.0, "jitter": 1e-4}
FAST = {"goodput": 600e6}
FLAG = {"name": "sender-too-slow", "severity": "warning", "message": {"msgid": "x", "params": {}}}
numbers = itertools.count(1)


@pytest.fixture
def path(cast: SimpleNamespace) -> SimpleNamespace:
    a, b, other = make.nodes(cast.team, "a", "b", "c")
    return SimpleNamespace(team=cast.team, a=a, b=b, other=other, link=make.link(a, b, "WAN"))


def stored(
    path: SimpleNamespace, tool: str, client: Node, server: Node, figures: dict[str, float], **more: object
) -> Campaign:
    """Return a campaign of three runs of one setting."""
    name = f"{tool} {next(numbers)}"
    campaign = Campaign.objects.create(team=path.team, name=name, state="finished", **more)
    experiment = Experiment.objects.create(campaign=campaign, name="one", tool=tool)
    lane = Lane.objects.create(
        experiment=experiment,
        roles={"client": [client.pk], "server": [server.pk]},
        resources=[f"node:{client.pk}", f"node:{server.pk}"],
    )
    parameters = {"iperf3-udp": {"rate": 622e6, "length": 1448}, "iperf3-tcp": {"window": 0, "streams": 4}}
    for repetition in (1, 2, 3):
        trial = Trial.objects.create(
            campaign=campaign, experiment=experiment, lane=lane, position=repetition, point=0, repetition=repetition,
            parameters=parameters.get(tool, {}),
        )  # fmt: skip
        measure(trial, **figures)
    return campaign


def dispersed(path: SimpleNamespace) -> Campaign:
    """Return a campaign of pathrate, whose second role sends: from a to b."""
    return stored(path, "pathrate", path.b, path.a, DISPERSED)


def clean(path: SimpleNamespace) -> Campaign:
    return stored(path, "iperf3-udp", path.a, path.b, CLEAN)


def fast(path: SimpleNamespace) -> Campaign:
    return stored(path, "iperf3-tcp", path.a, path.b, FAST)


def backwards(path: SimpleNamespace) -> Campaign:
    return stored(path, "iperf3-udp", path.b, path.a, CLEAN)


def elsewhere(path: SimpleNamespace) -> Campaign:
    return stored(path, "iperf3-udp", path.a, path.other, CLEAN)


def flagged(path: SimpleNamespace) -> Campaign:
    campaign = stored(path, "iperf3-tcp", path.a, path.b, FAST)
    rewriting.update(Result.objects.filter(experiment__campaign=campaign), flags=[FLAG])
    return campaign


def invalid(path: SimpleNamespace) -> Campaign:
    campaign = stored(path, "iperf3-udp", path.a, path.b, CLEAN)
    flag = {**FLAG, "severity": "invalid"}
    rewriting.update(Result.objects.filter(experiment__campaign=campaign), flags=[flag])
    return campaign


def private(path: SimpleNamespace) -> Campaign:
    return stored(path, "iperf3-udp", path.a, path.b, CLEAN, visibility=Campaign.Visibility.PRIVATE)


def after_a_change(path: SimpleNamespace) -> Campaign:
    Link.objects.get(pk=path.link.pk).save()
    return clean(path)


def read(campaign: Campaign) -> tuple[Evidence, FindingDraft]:
    (found,) = evidence.by_ends(campaign).values()
    (capacity,) = [draft for draft in drafts_of(ask_ends(found)) if draft.rule == "path-capacity"]
    return found, capacity


@pytest.mark.django_db
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("bound", [clean, fast])
def test_what_came_through_elsewhere_lifts_the_bound(
    path: SimpleNamespace, bound: Callable[[SimpleNamespace], Campaign], is_first: bool
) -> None:
    campaigns = [make_one(path) for make_one in ((bound, dispersed) if is_first else (dispersed, bound))]
    own, other = reversed(campaigns) if is_first else campaigns
    rate = 622e6 if bound is clean else 600e6
    found, capacity = read(own)
    assert (capacity.low, capacity.high) == (rate, None)
    assert any("it was misled" in sayings.filled(line.as_json()) for line in capacity.against)
    assert any(other.name in sayings.filled(line.as_json()) for line in capacity.why)
    known = read_capacity(found)
    assert known is None or known.is_open or known.value >= rate
    titles = [sayings.filled(draft.title.as_json()) for draft in drafts_of(ask_ends(found))]
    assert not [title for title in titles if "457" in title]


@pytest.mark.django_db
@pytest.mark.parametrize("other", [backwards, elsewhere, flagged, invalid, private, after_a_change])
def test_what_is_no_bound_of_this_path_is_not_weighed(
    path: SimpleNamespace, other: Callable[[SimpleNamespace], Campaign]
) -> None:
    own = dispersed(path)
    other(path)
    found, capacity = read(own)
    assert found.elsewhere is None
    assert (capacity.low, capacity.high) == (450e6, 457e6)


@pytest.mark.django_db
def test_more_campaigns_take_no_more_queries(path: SimpleNamespace) -> None:
    own = dispersed(path)
    counts = []
    for more in (1, 6):
        for _turn in range(more):
            clean(path)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            evidence.by_ends(own)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 30
