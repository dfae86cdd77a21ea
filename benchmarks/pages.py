"""The pages and REST lists whose answers `archive` times, of a team with an archive of finished campaigns."""

from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from apps.accounts.models import Team
from apps.agents.models import Job
from apps.campaigns.models import Campaign, Experiment, Lane, Run, Trial
from apps.results.models import Result
from apps.testbeds.models import Node, Site

# Of which there are as many as measurements, and when each was.
_ROWS: dict[str, tuple[type[Model], str]] = {
    "trials": (Trial, "finished_at"),
    "runs": (Run, "started_at"),
    "jobs": (Job, "started_at"),
    "results": (Result, "recorded_at"),
}
_SEARCH = [("q", "window archive"), ("param", "streams:10..20"), ("metric", "goodput:500 Mbit/s..600 Mbit/s")]


def pages_of(team: Team) -> dict[str, str]:
    """Return {name: address}: lists, results and comparisons, of the newest campaigns."""
    newest, older = Campaign.objects.filter(team=team).order_by("-pk")[:2]
    again = Campaign.objects.filter(team=team).order_by("pk").first()
    assert again is not None
    experiment = Experiment.objects.get(campaign=newest)
    trials = Trial.objects.filter(experiment=experiment).order_by("pk")
    trial = trials[trials.count() // 3]
    lane = Lane.objects.get(experiment__campaign=again)
    client = Node.objects.get(pk=lane.roles["client"][0])
    site = Site.objects.get(testbeds__nodes=client)
    other = Site.objects.get(testbeds__nodes=lane.roles["server"][0])
    two = [("set", f"campaign:{newest.pk}"), ("set", f"campaign:{older.pk}")]
    return {
        "campaigns": reverse("campaigns:campaign_list"),
        "campaigns, the last page": reverse("campaigns:campaign_list") + "?page=last",
        "campaign": reverse("campaigns:campaign_detail", args=[newest.pk]),
        "trials of a campaign": reverse("results:trial_list", args=[newest.pk]),
        "experiment": reverse("results:experiment", args=[experiment.pk]),
        "landing page": reverse("landing:campaign", args=[newest.permanent_id]),
        "trial": reverse("results:trial", args=[trial.pk]),
        "findings": reverse("tuning:list"),
        "histories": reverse("history:list"),
        "history": reverse("history:detail", args=[lane.pk]),
        "matrix": reverse("matrix:matrix"),
        "archive": reverse("archive:search"),
        "archive, searched": f"{reverse('archive:search')}?{urlencode(_SEARCH)}&pair={site.pk}-{other.pk}",
        "REST: archive": f"{reverse('archive-search')}?{urlencode(_SEARCH)}",
        "REST: archive, facets": reverse("archive-facets"),
        "REST: measured already": reverse("experiment-already", args=[experiment.pk]),
        "two campaigns compared": _compare(*two),
        "two campaigns, medians by streams": _compare(*two, ("x", "streams"), ("stat", "median")),
        "two campaigns, heat map": _compare(*two, ("chart", "heat")),
        "two campaigns, parallel coordinates": _compare(*two, ("chart", "parallel")),
        "two campaigns, boxes": _compare(*two, ("chart", "box")),
        "a node's results": _compare(("set", f"node:{client.pk}")),
        "two sites compared": _compare(("set", f"site:{site.pk}"), ("set", f"site:{other.pk}")),
        "layers of two sites": reverse("tuning:site_layers", args=[site.pk, other.pk]),
        "pairs of sites": reverse("tuning:sites"),
        "node": reverse("testbeds:node_detail", args=[client.pk]),
        "site": reverse("testbeds:site_detail", args=[site.pk]),
        "nodes": reverse("testbeds:node_list"),
        "agents": reverse("agents:list"),
        "a node's jobs": reverse("agents:detail", args=[client.pk]),
        "REST: campaigns": reverse("campaign-list"),
        "REST: findings": reverse("finding-list"),
        "REST: results of a campaign": f"{reverse('result-list')}?campaign={newest.pk}",
        "REST: runs of a campaign": f"{reverse('run-list')}?campaign={newest.pk}",
        "REST: jobs of a node": f"{reverse('job-list')}?node={client.pk}",
        "REST: two campaigns compared": f"{reverse('comparison')}?{urlencode(two)}",
        "REST: layers of two sites": reverse("site-layers-detail", args=[site.pk, other.pk]),
        **{f"REST: {rows}{where}": address for rows in _ROWS for where, address in _pages(rows)},
    }


def _pages(rows: str) -> list[tuple[str, str]]:
    """Return the first, the middle and the last page of a list of rows, and the first in the order of their time."""
    model, time = _ROWS[rows]
    base = reverse(f"{model._meta.model_name}-list")
    middle = 1 + model._default_manager.count() // 2 // 50
    asked = {"the middle": f"page={middle}", "the last": "page=last", "the latest": f"ordering=-{time}"}
    return [("", base), *((f", {what}", f"{base}?{query}") for what, query in asked.items())]


def _compare(*pairs: tuple[str, str]) -> str:
    return f"{reverse('comparison:compare')}?{urlencode(pairs)}"
