"""Loss against offered load: what the page, the charts and REST tell of a sweep of rates, and to whom."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment, Run
from apps.results import loss
from apps.results.models import Result
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from tests import factories, rewriting
from tests.bench.tools import recordings
from tests.campaigns import factories as make
from tests.workers import factories as agents
from workers import carry_out

RATES = (100, 400, 430, 450, 457, 500)


@pytest.fixture
def swept(cast: SimpleNamespace, pair: list[Node]) -> Experiment:
    """Return an experiment whose UDP rates were swept over the link of 457 Mbit/s."""
    draft = make.campaign(cast, name="UDP")
    make.link(pair[0], pair[1], "limited")
    services.create_experiment(
        campaign=draft,
        user=draft.created_by,
        roles=make.players(client=pair[0], server=pair[1]),
        name="loss",
        tool="iperf3-udp",
        fixed={"duration": "5 s", "omit": "0 s"},
        factors=[{"name": "rate", "expression": ", ".join(f"{rate} Mbit/s" for rate in RATES)}],
        repetitions=1,
        order="as-given",
        context=False,
    )
    services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    carry_out.schedule()
    while run := Run.objects.filter(state__in=Run.OPEN_STATES).first():
        agents.listen(run)
        agents.measure(run, recordings.load("iperf3-udp", f"b{run.trial.parameters['rate'] // 10**6}M.json"))
        carry_out.advance(run.pk)
    services.finish_campaigns(now=timezone.now())
    return draft.experiments.get()


def paths(experiment: Experiment) -> list[str]:
    return [reverse("results:experiment_loss", args=[experiment.pk])]


def rest(experiment: Experiment) -> str:
    return f"/api/v1/experiments/{experiment.pk}/loss/"


def test_the_page_names_the_knee(client: Client, swept: Experiment, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get(reverse("results:experiment", args=[swept.pk])).content.decode()
    assert "Loss against offered load" in page
    assert "The knee lies at 43" in page
    assert "Loss stays below 0.5 % up to an offered load of 429.9 Mbit/s" in page
    assert "simply full" in page
    assert page.count('<th scope="row" class="fw-normal">') >= 2 * len(RATES)


def test_the_charts_draw_loss_and_jitter_with_the_full_link_and_the_knee(
    client: Client, swept: Experiment, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    charts = client.get(reverse("results:experiment_loss", args=[swept.pk])).json()["charts"]
    assert [chart["metric"]["name"] for chart in charts] == ["loss", "jitter"]
    assert [series["label"] for series in charts[0]["series"]] == ["measured", "a full link (1 − C/R)"]
    assert len(charts[0]["series"][0]["points"]) == len(RATES)
    assert charts[0]["x"]["unit"] == "bit/s"
    (line,) = charts[0]["lines"]
    assert line["axis"] == "x"
    assert line["value"] == pytest.approx(437e6, rel=0.01)


def test_rest_tells_the_same(client: Client, swept: Experiment, cast: SimpleNamespace) -> None:
    (curve,) = client.get(rest(swept), **factories.bearer(cast.bob)).json()
    assert curve["knee"] == pytest.approx(437e6, rel=0.01)
    assert curve["capacity"] == pytest.approx(437e6, rel=0.01)
    assert curve["whole"] == pytest.approx(430e6, rel=1e-3)
    assert curve["held"] is None
    assert not any(point["is_held"] for point in curve["points"])
    assert [point["excess"] is None for point in curve["points"]] == [True, True, True, False, False, False]
    assert curve["factors"] == ""


def test_loads_whose_ends_dropped_are_no_evidence_of_the_path(
    client: Client, swept: Experiment, cast: SimpleNamespace
) -> None:
    flag = {
        "name": "receive-buffer-full",
        "severity": "warning",
        "metrics": [],
        "message": {"msgid": "x", "params": {}},
    }
    rewriting.update(Result.objects.filter(experiment=swept, trial__parameters__rate__gte=450_000_000), flags=[flag])
    (curve,) = client.get(rest(swept), **factories.bearer(cast.bob)).json()
    assert (curve["capacity"], curve["lossy"]) == (None, None)
    assert curve["held"] == pytest.approx(450e6, rel=1e-3)
    assert [point["is_held"] for point in curve["points"]] == [False, False, False, True, True, True]
    said = " ".join(curve["conclusions"])
    assert "the path carries so much or more" in said
    assert "so much one flow" not in said


def test_strangers_and_other_teams_get_nothing(client: Client, swept: Experiment, cast: SimpleNamespace) -> None:
    page = reverse("results:experiment_loss", args=[swept.pk])
    assert client.get(page).status_code == 302
    assert client.get(rest(swept)).status_code == 401
    assert client.get(rest(swept), **factories.bearer(cast.charlie)).status_code == 404
    client.force_login(cast.charlie)
    assert client.get(page).status_code == 404
    client.force_login(cast.bob)
    assert client.get(page).status_code == 200


def test_an_experiment_without_offered_loads_has_no_curve(
    client: Client,
    measured: Campaign,
    cast: SimpleNamespace,
) -> None:
    experiment = measured.experiments.get()
    client.force_login(cast.bob)
    assert (
        "Loss against offered load"
        not in client.get(reverse("results:experiment", args=[experiment.pk])).content.decode()
    )
    assert client.get(reverse("results:experiment_loss", args=[experiment.pk])).json() == {"charts": []}


def test_a_curve_takes_a_fixed_number_of_queries(swept: Experiment, django_assert_max_num_queries) -> None:
    tool = toolbox.get_tool(swept.tool)
    with django_assert_max_num_queries(17):
        assert len(loss.sweeps_of(swept, tool)) == 1
