"""Forms: a campaign, and an experiment whose fields are its tool's parameters."""

from apps.campaigns.forms.campaigns import CampaignForm
from apps.campaigns.forms.experiments import ExperimentForm, initial_of, shown_of
from apps.campaigns.forms.recipes import RecipeForm

__all__ = ["CampaignForm", "ExperimentForm", "RecipeForm", "initial_of", "shown_of"]
