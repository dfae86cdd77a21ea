"""The figures of a campaign's experiments on the page of its permanent id: drawn once for all who read the same."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from apps.archive.landing import description, kept
from apps.archive.landing.redaction import Names
from apps.campaigns.models import Campaign, Experiment, Lane, Run, Trial
from apps.results.models import Result, Sample
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed
from apps.toolbox.models import ToolVersion

_MEASURED = (Lane, Trial, Run, Result, Sample)
# Of paths, which give the lines of theory; nodes are called by their names.
_INVENTORY = (Cluster, FileSystem, Link, Node, Site, SitePair, Switch, Testbed)


def figures_of(campaign: Campaign, names: Names, experiments: Sequence[Experiment], *, page: int, query: str) -> str:
    """Return the figures of the experiments of a page as HTML; `query` is what addresses of files end with.

    LimitExceededError (429) if another text of the team is being written meanwhile.
    """
    pks = [experiment.pk for experiment in experiments]

    def write() -> SafeString:
        # Read after the versions of the rows: what changed meanwhile is never kept as it was before.
        fresh = Experiment.objects.select_related("campaign").in_bulk(pks)
        measured = [description.measured(fresh[pk], names) for pk in pks if pk in fresh]
        context = {"campaign": campaign, "experiments": measured, "preview": query}
        return render_to_string("results/landing/figures.html", context)

    text = kept.text_of(
        campaign,
        names,
        f"figures {page}{query}",
        write,
        sources=[campaign.permanent_id, [(experiment.pk, experiment.name) for experiment in experiments]],
        rows=inventory_of(campaign),
        measured=measured_of(pks),
    )
    return mark_safe(text)  # noqa: S308 - a template wrote it, and escaped what people wrote


def inventory_of(campaign: Campaign) -> list[QuerySet[Any]]:
    """Return the rows of what is measured that the figures of a campaign are drawn from: they have names."""
    return [
        *(model._default_manager.filter(team=campaign.team_id) for model in _INVENTORY),
        ToolVersion.objects.filter(tool__team=campaign.team_id),
    ]


def measured_of(pks: Sequence[int]) -> list[QuerySet[Any]]:
    """Return the rows that measuring makes and changes from which the figures of experiments are drawn."""
    return [
        Experiment.objects.filter(pk__in=pks),
        *(model._default_manager.filter(experiment__in=pks) for model in _MEASURED),
    ]
