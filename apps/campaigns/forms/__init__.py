"""Forms: a campaign, and an experiment whose fields are its tool's parameters."""

from apps.campaigns.forms.campaigns import CampaignForm
from apps.campaigns.forms.experiments import ExperimentForm, initial_of

__all__ = ["CampaignForm", "ExperimentForm", "initial_of"]
