"""Pages of a permanent id: the campaign for whoever may read it, its recipe and samples, and measuring it again."""

from collections.abc import Iterator
from typing import Any, TypeVar

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.accounts import rights, team_choice
from apps.accounts.models import Role
from apps.archive.landing import citation, description, figures, recipes
from apps.archive.landing.forms import RunAgainForm
from apps.archive.landing.redaction import Names, names_for
from apps.campaigns import brought_in, permanent_ids, queries, services
from apps.campaigns.models import Campaign, Experiment, Run, Tombstone, Trial
from apps.campaigns.models.sharing import Shared
from apps.campaigns.runnable import names_in, read_recipe
from apps.core.forms import add_errors
from apps.core.streams import send
from apps.results.downloads import csv_lines
from apps.results.queries import rows_of

S = TypeVar("S", bound=Shared)
# ``?as=stranger``: what those read who are not of the team, once the campaign is public.
STRANGER = "stranger"
# A campaign may have thousands, each with a chart.
EXPERIMENTS_PER_PAGE = 20


def _found(request: HttpRequest, permanent_id: str, model: type[S]) -> S | None:
    rows: QuerySet[Any] = queries.readable(model._default_manager.select_related("team", "created_by"), request.user)
    if model is Campaign:
        rows = rows.filter(deleting_at=None)
    found: S | None = rows.filter(permanent_id=permanent_id).first()
    return found


def _campaign(request: HttpRequest, permanent_id: str) -> tuple[Campaign, Names]:
    """Return a campaign that the person may read, and how its texts are shown to them."""
    campaign = _found(request, permanent_id, Campaign)
    if campaign is None:
        raise Http404
    return campaign, names_for(campaign, whole=_sees_whole(request, campaign))


def _sees_whole(request: HttpRequest, campaign: Campaign) -> bool:
    """Say whether the reader sees the names; who does may ask for the page as a stranger would read it."""
    return request.GET.get("as") != STRANGER and queries.sees_whole(campaign, request.user)


@require_GET
def landing(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Show what the id stands for; 410 if it was deleted. Who is not signed in and may not read it is asked to."""
    normal = permanent_ids.normalise(permanent_id)
    if normal is None:
        raise Http404
    if normal != permanent_id:
        return redirect("landing:campaign", permanent_id=normal)
    campaign = _found(request, normal, Campaign)
    if campaign is not None:
        return _show(request, campaign)
    stone = _found(request, normal, Tombstone)
    if stone is not None:
        names = names_for(stone, whole=queries.visible(Tombstone.objects.filter(pk=stone.pk), request.user).exists())
        context = {"stone": stone, **description.tombstone_texts(stone, names)}
        return render(request, "results/landing/tombstone.html", context, status=410)
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    raise Http404


def _show(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    whole = _sees_whole(request, campaign)
    is_preview = request.GET.get("as") == STRANGER and queries.sees_whole(campaign, request.user)
    names = names_for(campaign, whole=whole)
    page = Paginator(campaign.experiments.all(), EXPERIMENTS_PER_PAGE).get_page(request.GET.get("page"))
    described = description.describe(campaign, names)
    address = request.build_absolute_uri(reverse("landing:campaign", args=[campaign.permanent_id]))
    preview = "?as=" + STRANGER if is_preview else ""
    context = {
        "campaign": campaign,
        "described": described,
        "figures": figures.figures_of(campaign, names, list(page), page=page.number, query=preview),
        "page_obj": page,
        "citation": citation.cite(campaign, names, address),
        "whole": whole and request.user.is_authenticated,
        "hidden": names.hidden,
        "arrival": brought_in.read(campaign.brought_in, is_hidden=names.hidden),
        "can_run": not is_preview and rights.teams_for(request.user, Role.OPERATOR).exists(),
        "can_write": queries.can_write(campaign, request.user),
        "preview": preview,
    }
    return render(request, "results/landing/campaign.html", context)


@require_GET
def recipe(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Return the recipe as a file."""
    campaign, names = _campaign(request, permanent_id)
    text = recipes.recipe_text(campaign, names)
    headers = {"Content-Disposition": f'attachment; filename="fathom-{campaign.permanent_id}.yaml"'}
    return HttpResponse(text, content_type="application/yaml; charset=utf-8", headers=headers)


@require_GET
def samples(request: HttpRequest, permanent_id: str, position: int) -> StreamingHttpResponse:
    """Return every sample of one experiment as CSV, streamed, values in base units."""
    campaign, names = _campaign(request, permanent_id)
    experiment = get_object_or_404(Experiment, campaign=campaign, position=position)
    name = f"fathom-{campaign.permanent_id}-{position}.csv"
    return send(
        request,
        lambda: csv_lines(_rows(experiment, names)),
        name=name,
        kind="text/csv; charset=utf-8",
        owner=f"team {campaign.team_id}",
    )


def _rows(experiment: Experiment, names: Names) -> Iterator[dict[str, object]]:
    """Yield the samples; trials and runs are numbered within the experiment: who reads them counts nothing else."""
    keys = recipes.keys_of(experiment.tool, names)
    # A team's tool may have units of its own.
    plain = {"metric", "recorded_at", "flags", *(() if keys else ("unit",))}
    trials = Trial.objects.filter(experiment=experiment).order_by("pk").values_list("pk", flat=True)
    positions: dict[object, int] = {pk: position for position, pk in enumerate(trials)}
    attempts: dict[object, int] = dict(Run.objects.filter(experiment=experiment).values_list("pk", "attempt"))
    for row in rows_of(experiment):
        row |= {"trial": positions[row["trial"]], "run": attempts[row["run"]]}
        row["metric"] = keys.get(str(row["metric"]), row["metric"])
        yield {
            keys.get(name, name): names.text(value) if isinstance(value, str) and name not in plain else value
            for name, value in row.items()
        }


@login_required
def run(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Ask on which nodes, then measure the same again; 422 with what is wrong."""
    campaign, names = _campaign(request, permanent_id)
    teams = rights.teams_for(request.user, Role.OPERATOR)
    if not teams:
        rights.require(request.user, campaign.team, Role.OPERATOR)
        raise Http404
    if slug := request.POST.get("team") or request.GET.get("team"):
        team = get_object_or_404(teams, slug=slug.replace("\0", ""))
    else:
        own = teams.filter(pk=campaign.team_id).first()
        team = own or team_choice.usual_team_for(rights.user_of(request), Role.OPERATOR)
    text = recipes.recipe_text(campaign, names)
    content = read_recipe(text)
    original = campaign if queries.sees_whole(campaign, request.user) else None
    seen_by = services.visibility_from(original)
    form = RunAgainForm(
        request.POST or None, needed=names_in(content), team=team, name=content["name"], visibility=seen_by
    )
    if request.method == "POST" and form.is_valid():
        try:
            rerun = services.run_again(
                recipe=content,
                team=team,
                user=rights.user_of(request),
                now=timezone.now(),
                stand_ins=form.stand_ins,
                original=original,
                name=form.cleaned_data["name"],
                launch=form.cleaned_data["launch"],
                visibility=form.cleaned_data["visibility"] or seen_by,
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("The same is measured again; its page compares the two."))
            return redirect("campaigns:campaign_detail", pk=rerun.pk)
    context = {"campaign": campaign, "name": names.text(campaign.name), "form": form, "teams": teams, "team": team}
    return render(request, "results/landing/run.html", context, status=422 if form.is_bound else 200)
