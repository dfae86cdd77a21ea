"""A draft made from a template."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts import rights, team_choice
from apps.accounts.models import Role
from apps.campaigns import forms, services
from apps.campaigns.recipes import RECIPES
from apps.core import messages as texts


@login_required
def create(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for nodes and values, then make the draft and show it; `?team=` chooses the team."""
    if slug not in RECIPES:
        raise Http404
    recipe, user = RECIPES[slug], rights.user_of(request)
    team = team_choice.team_to_write_in(request, Role.OPERATOR)
    if request.method == "POST":
        form = forms.RecipeForm(request.POST, recipe=recipe, team=team)
        if form.is_valid():
            try:
                draft = services.create_from_recipe(team=team, user=user, now=timezone.now(), **form.values())
            except ValidationError as error:
                form.add_refusal(error)
            else:
                messages.success(request, _("The draft is ready: look at it, then launch it."))
                return redirect("campaigns:campaign_detail", pk=draft.pk)
    else:
        form = forms.RecipeForm(recipe=recipe, team=team, initial={"name": texts.render(recipe.name)})
    context = {
        "form": form,
        "recipe": recipe,
        "team": team,
        "teams": rights.teams_for(user, Role.OPERATOR),
    }
    return render(request, "campaigns/recipe.html", context, status=422 if form.errors else 200)
