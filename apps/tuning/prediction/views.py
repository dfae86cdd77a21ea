"""Page: ask for the rate of a setting that an experiment did not measure."""

from typing import TypeVar

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from apps.campaigns.models import Experiment
from apps.campaigns.queries.visibility import visible
from apps.results import queries as results
from apps.toolbox import queries as toolbox
from apps.tuning.prediction import queries

T = TypeVar("T")


@login_required
@require_GET
def prediction(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form, and the answer once every factor has a value; 422 with the reason where there is none."""
    in_sight = visible(Experiment.objects.all(), request.user, path="campaign")
    experiment = get_object_or_404(in_sight.select_related("campaign__team"), pk=pk)
    tool = toolbox.get_tool(experiment.tool)
    lanes, metrics = list(experiment.lanes.all()), queries.metrics_of(tool)
    context = {"experiment": experiment, "tool": tool, "lanes": results.lane_names(experiment), "metrics": metrics}
    if not lanes or not metrics:
        return render(request, "tuning/prediction.html", context)
    question = queries.PredictionQuestion(
        experiment=experiment,
        tool=tool,
        lane=_chosen(lanes, "pk", request.GET.get("lane")),
        metric=_chosen(metrics, "name", request.GET.get("metric")),
        factors=queries.factors_of(experiment, tool),
        texts={name: str(text) for name, text in request.GET.items() if "\0" not in str(text)},
    )
    context |= {
        "asked": question,
        "fields": [(factor, question.texts.get(factor.name, "")) for factor in question.factors],
    }
    if not question.factors or not question.is_whole:
        return render(request, "tuning/prediction.html", context)
    try:
        context["answer"] = queries.predict(question)
    except queries.UnansweredQuestion as error:
        context |= {"problem": error.message, "problem_field": error.field}
        return render(request, "tuning/prediction.html", context, status=422)
    return render(request, "tuning/prediction.html", context)


def _chosen(items: list[T], name: str, text: str | None) -> T:
    """Return the item whose attribute is what was asked for, the first unless something was; Http404 if none is."""
    if not text:
        return items[0]
    choice = next((item for item in items if str(getattr(item, name)) == text), None)
    if choice is None:
        raise Http404
    return choice
