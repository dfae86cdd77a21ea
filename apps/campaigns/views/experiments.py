"""An experiment defined in the browser, with what it comes to shown as one types."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts import rights
from apps.accounts.models import Role, Team
from apps.bench.toolkit import Tool
from apps.campaigns import forms, queries, services
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.turns import sweep_turn
from apps.campaigns.views.campaigns import find_campaign
from apps.core import editing
from apps.toolbox import queries as toolbox


def _tool_of(request: HttpRequest, team: Team, default: str = "") -> Tool:
    slug = request.POST.get("tool") or request.GET.get("tool") or default
    tools = {tool.slug: tool for tool in toolbox.tools_for(team, also=default)}
    return tools.get(slug) or tools["iperf3-tcp"]


def _own_experiment(request: HttpRequest, pk: int) -> Experiment:
    experiment = get_object_or_404(queries.experiments_for(rights.user_of(request)), pk=pk)
    rights.require(request.user, experiment.campaign.team, Role.OPERATOR)
    return experiment


@login_required
def create(request: HttpRequest, pk: int) -> HttpResponse:
    """Add an experiment to a draft; `?tool=` chooses the tool."""
    campaign = find_campaign(request, pk)
    rights.require(request.user, campaign.team, Role.OPERATOR)
    tool = _tool_of(request, campaign.team)
    if request.method != "POST":
        form = forms.ExperimentForm(tool=tool, campaign=campaign, initial={"name": tool.name})
        return _form_page(request, form, campaign, None)
    user, form = rights.user_of(request), forms.ExperimentForm(request.POST, tool=tool, campaign=campaign)
    with sweep_turn(user):
        if form.is_valid():
            try:
                experiment = services.create_experiment(campaign=campaign, user=user, **form.values())
            except ValidationError as error:
                form.add_refusal(error)
            else:
                text = _("The experiment “%(name)s” is in the campaign.")
                messages.success(request, text % {"name": experiment.name})
                return redirect("campaigns:campaign_detail", pk=campaign.pk)
    return _form_page(request, form, campaign, None, status=422)


@login_required
def update(request: HttpRequest, pk: int) -> HttpResponse:
    """Change an experiment of a draft; what somebody else saved since it was shown is not undone unseen (409)."""
    experiment = _own_experiment(request, pk)
    campaign = experiment.campaign
    if request.method != "POST":
        tool, initial = _tool_of(request, campaign.team, experiment.tool), forms.initial_of(experiment)
        form = forms.ExperimentForm(tool=tool, campaign=campaign, experiment=experiment, initial=initial)
        return _form_page(request, editing.guard(form, forms.shown_of(experiment)), campaign, experiment)
    form, user = _sent_form(request, experiment), rights.user_of(request)
    with sweep_turn(user):
        if not editing.refuse_stale(form, experiment) and form.is_valid():
            try:
                services.update_experiment(
                    experiment=experiment,
                    user=user,
                    once_held=lambda: _refuse_overtaken(request, pk),
                    **form.values(),
                )
            except _Overtaken as overtaken:
                form = overtaken.form
            except ValidationError as error:
                form.add_refusal(error)
            else:
                editing.note_change(experiment, user.get_username())
                messages.success(request, _("The experiment is saved."))
                return redirect("campaigns:campaign_detail", pk=campaign.pk)
    return _form_page(request, form, campaign, experiment, status=409 if form.conflict else 422)


class _Overtaken(Exception):
    """Somebody else saved the experiment while what was sent was looked at; the form says what."""

    def __init__(self, form: Any) -> None:
        super().__init__()
        self.form = form


def _refuse_overtaken(request: HttpRequest, pk: int) -> None:
    """Raise _Overtaken if the experiment, which is held now, is no longer what was shown."""
    experiment = _own_experiment(request, pk)
    form = _sent_form(request, experiment)
    if editing.refuse_stale(form, experiment):
        raise _Overtaken(form)


def _sent_form(request: HttpRequest, experiment: Experiment) -> Any:
    campaign = experiment.campaign
    tool = _tool_of(request, campaign.team, experiment.tool)
    form = forms.ExperimentForm(request.POST, tool=tool, campaign=campaign, experiment=experiment)
    return editing.guard(form, forms.shown_of(experiment))


@login_required
@require_POST
def preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial that says what the experiment as typed so far comes to."""
    campaign = find_campaign(request, pk)
    rights.require(request.user, campaign.team, Role.OPERATOR)
    tool = _tool_of(request, campaign.team, request.POST.get("tool", ""))
    form = forms.ExperimentForm(request.POST, tool=tool, campaign=campaign)
    context: dict[str, Any] = {"form": form}
    with sweep_turn(rights.user_of(request)):
        if form.is_valid():
            values = form.values()
            roles = values.pop("roles")
            experiment = Experiment(campaign=campaign, **values)
            try:
                expansion = services.check_experiment(experiment, services.players_of(experiment, roles))
                context["preview"] = queries.preview_experiment(expansion, now=timezone.now())
            except ValidationError as error:
                form.add_refusal(error)
    return render(request, "campaigns/_preview.html", context)


@login_required
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then take an experiment out of its draft."""
    experiment = _own_experiment(request, pk)
    if request.method != "POST":
        return render(request, "campaigns/delete_experiment.html", {"experiment": experiment})
    try:
        services.delete_experiment(experiment=experiment, user=rights.user_of(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, _("The experiment is deleted."))
    return redirect("campaigns:campaign_detail", pk=experiment.campaign_id)


def _groups(team: Team, chosen: str) -> list[tuple[str, list[Tool]]]:
    """Return the tools by group, each group with its heading, in the order in which the field speaks of them."""
    headings = {
        "network": _("Network"),
        "transfer": _("Transfers"),
        "storage": _("Storage"),
        "mpi": _("MPI"),
        "other": _("Other"),
    }
    members: dict[str, list[Tool]] = {name: [] for name in headings}
    for tool in toolbox.tools_for(team, also=chosen):
        members[tool.group if tool.group in members else "other"].append(tool)
    return [(headings[name], tools) for name, tools in members.items() if tools]


def _form_page(
    request: HttpRequest,
    form: forms.ExperimentForm,
    campaign: Campaign,
    experiment: Experiment | None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "form": form,
        "campaign": campaign,
        "experiment": experiment,
        "groups": _groups(campaign.team, form.tool.slug),
        "is_chosen": bool(experiment or form.is_bound or request.GET.get("tool")),
    }
    return render(request, "campaigns/experiment_form.html", context, status=status)
