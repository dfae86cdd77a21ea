"""The list of campaigns, and a campaign made, changed, copied, deleted and steered."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST
from django_filters import ChoiceFilter, FilterSet

from apps.accounts import pages, rights
from apps.accounts.models import Role
from apps.campaigns import errors, forms, queries, services, waits
from apps.campaigns.models import Campaign
from apps.campaigns.recipes import RECIPES
from apps.campaigns.views.status import status_of
from apps.testbeds import topology
from apps.testbeds.models import Node


class CampaignPage:
    """What pages of campaigns share: who sees which."""

    request: HttpRequest

    def narrow(self, rows: QuerySet[Campaign]) -> QuerySet[Campaign]:
        """Return the campaigns that the person may see."""
        return queries.visible(rows, self.request.user)


# What the badge says of a campaign that runs, but waits for something without a known end.
WAITING = "waiting"


class CampaignListFilter(FilterSet):
    """Filters of the list; among the states stands the one that only the badge knows."""

    state = ChoiceFilter(
        label=gettext_lazy("State"),
        choices=[*Campaign.State.choices, (WAITING, gettext_lazy("waiting"))],
        empty_label=gettext_lazy("all"),
        method="in_state",
    )

    class Meta:
        model = Campaign
        fields = ["state", "origin"]

    def in_state(self, rows: QuerySet[Campaign], _name: str, state: str) -> QuerySet[Campaign]:
        """Return the campaigns of a state; those that run and can not go on are "waiting", and "running" as well."""
        if state != WAITING:
            return rows.filter(state=state)
        running = list(rows.filter(state=Campaign.State.RUNNING))
        by_campaign = waits.waits_of(running, rights.user_of(self.request), timezone.now())
        return rows.filter(pk__in=[campaign.pk for campaign in running if by_campaign[campaign.pk].is_stuck])


class CampaignList(CampaignPage, pages.ListPage):
    """Campaigns with their progress."""

    model = Campaign
    queryset = Campaign.objects.filter(deleting_at=None).select_related("team", "created_by", "series")
    template_name = "campaigns/list.html"
    search_fields = ("name", "goal")
    sortable = ("name", "state", "created_at", "launched_at")
    filterset_class = CampaignListFilter

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add each campaign's progress and what it waits for, in a number of queries that does not depend on them."""
        context = super().get_context_data(**kwargs)
        context["object_list"] = list(context["object_list"])
        queries.attach_progress(context["object_list"])
        waits.attach_waits(context["object_list"], rights.user_of(self.request), timezone.now())
        context["has_offers"] = queries.has_offers(rights.user_of(self.request))
        context["deletions"] = queries.deletions_for(rights.user_of(self.request))
        return context


class CampaignCreate(pages.CreatePage):
    """A new draft."""

    model = Campaign
    form_class = forms.CampaignForm
    template_name = "campaigns/new.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the templates to start from instead."""
        return super().get_context_data(recipes=RECIPES.values(), **kwargs)

    def perform_create(self, form: forms.CampaignForm) -> Campaign:
        """Make the draft."""
        return services.create_campaign(
            team=self.get_team(), user=rights.user_of(self.request), now=timezone.now(), **form.cleaned_data
        )


class CampaignUpdate(CampaignPage, pages.UpdatePage):
    """Name, goal and dates."""

    model = Campaign
    queryset = Campaign.objects.filter(deleting_at=None)
    form_class = forms.CampaignForm

    def perform_update(self, form: forms.CampaignForm) -> Campaign:
        """Save."""
        campaign = Campaign.objects.get(pk=self.object.pk)
        return services.update_campaign(
            campaign=campaign, user=rights.user_of(self.request), now=timezone.now(), **form.cleaned_data
        )


class CampaignClone(CampaignPage, pages.ClonePage):
    """A draft with the same experiments."""

    model = Campaign
    queryset = Campaign.objects.filter(deleting_at=None)

    def perform_clone(self, original: Campaign, name: str) -> Campaign:
        """Make the copy."""
        return services.clone_campaign(campaign=original, user=rights.user_of(self.request), name=name)


class CampaignDelete(CampaignPage, pages.DeletePage):
    """Delete a campaign with all that it measured."""

    model = Campaign
    template_name = "campaigns/delete.html"
    queryset = Campaign.objects.filter(deleting_at=None)

    def get_loss(self) -> str:
        """Return what goes with it."""
        trials = self.object.trials.count()
        loss = ngettext(
            "With it go %(n)s trial, what it printed and its results.",
            "With it go %(n)s trials, what they printed and their results.",
            trials,
        )
        return loss % {"n": trials} if trials else ""

    def perform_delete(self, instance: Campaign) -> None:
        """Delete it, unless it is under way."""
        services.delete_campaign(
            campaign=instance,
            user=rights.user_of(self.request),
            now=timezone.now(),
            reason=self.request.POST.get("reason", "").replace("\0", ""),
        )

    def get_dependents(self) -> list[Any]:
        """Return nothing: what belongs to a campaign goes with it, and to look through all of it takes long."""
        return []


def find_campaign(request: HttpRequest, pk: int) -> Campaign:
    """Return a campaign of the person's teams, or raise Http404."""
    return get_object_or_404(queries.campaigns_for(rights.user_of(request)), pk=pk)


@login_required
@require_GET
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a campaign: how far it is, its results as they arrive, its log."""
    campaign = find_campaign(request, pk)
    experiments = list(
        campaign.experiments.select_related("campaign", "file_system", "after").prefetch_related(
            "roles__node", "roles__cluster"
        )
    )
    status = status_of(request, campaign)
    context = {
        **status,
        "experiments": experiments,
        "can_write": rights.can(request.user, campaign.team, Role.OPERATOR),
        "drawing": _drawing(campaign, status["activities"]),
        "events": queries.events_of(campaign)[:50],
        "original": queries.campaigns_for(rights.user_of(request)).filter(pk=campaign.cloned_from_id).first()
        if campaign.cloned_from_id
        else None,
        "occurrences": queries.visible(campaign.occurrences.order_by("-created_at"), request.user)[:20],
    }
    return render(request, "campaigns/detail.html", context)


def _drawing(campaign: Campaign, activities: Sequence[queries.RunUnderWay]) -> str:
    """Return the topology of the campaign's nodes, those that are measuring now marked as busy."""
    nodes = Node.objects.filter(experiment_roles__experiment__campaign=campaign).distinct()
    members = Node.objects.filter(clusters__experiment_roles__experiment__campaign=campaign).distinct()
    busy = {node.pk for activity in activities for node in activity.nodes}
    is_open = campaign.state in (*Campaign.OPEN_STATES, Campaign.State.SCHEDULED)
    return topology.topology_svg(nodes=list(nodes | members), busy=busy, are_needed=is_open)


@login_required
@require_GET
def drawing(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the drawing alone, with what is busy now."""
    campaign = find_campaign(request, pk)
    return HttpResponse(_drawing(campaign, queries.activities_of(campaign)))


@login_required
@require_GET
def status(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with state, progress and activities."""
    campaign = find_campaign(request, pk)
    return render(request, "campaigns/_status.html", status_of(request, campaign))


@login_required
@require_GET
def deletions(request: HttpRequest) -> HttpResponse:
    """Return the partial with what is being deleted."""
    context = {"deletions": queries.deletions_for(rights.user_of(request))}
    return render(request, "campaigns/_deletions.html", context)


@login_required
@require_GET
def events(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with the log."""
    campaign = find_campaign(request, pk)
    context = {"campaign": campaign, "events": queries.events_of(campaign)[:50]}
    return render(request, "campaigns/_events.html", context)


def steer(request: HttpRequest, pk: int, service: Callable[..., Any], done: str, **values: Any) -> HttpResponse:
    """Do something with a campaign, say so or why not, and go back to its page."""
    campaign = find_campaign(request, pk)
    try:
        service(campaign=campaign, user=rights.user_of(request), **values)
    except errors.NotAsConfirmed:
        raise
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
    else:
        messages.success(request, done)
    return redirect("campaigns:campaign_detail", pk=pk)


@login_required
@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Start no further trial."""
    return steer(request, pk, services.pause_campaign, _("The campaign is paused; what is under way goes on."))


@login_required
@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on."""
    return steer(request, pk, services.resume_campaign, _("The campaign goes on."), now=timezone.now())


@login_required
@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a scheduled campaign a draft again."""
    return steer(request, pk, services.withdraw_campaign, _("The campaign is a draft again."))


@login_required
@require_POST
def rerun_failed(request: HttpRequest, pk: int) -> HttpResponse:
    """Run again what failed."""
    return steer(request, pk, services.rerun_failed, _("The failed trials are measured again."))


@login_required
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then stop everything."""
    campaign = find_campaign(request, pk)
    rights.require(request.user, campaign.team, Role.OPERATOR)
    if request.method != "POST":
        queries.attach_progress([campaign])
        return render(request, "campaigns/cancel.html", {"campaign": campaign})
    done = _("The campaign is cancelled; what was measured is kept.")
    return steer(request, pk, services.cancel_campaign, done, now=timezone.now())
