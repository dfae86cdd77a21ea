"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.campaigns.api import campaigns, experiments, notes, offers, recipes, runnable, sharing, tools, trials

router = SimpleRouter()
router.register("campaigns", campaigns.CampaignViewSet, basename="campaign")
router.register("experiments", experiments.ExperimentViewSet, basename="experiment")
router.register("trials", trials.TrialViewSet, basename="trial")
router.register("runs", trials.RunViewSet, basename="run")
router.register("notes", notes.NoteViewSet, basename="note")
router.register("campaign-offers", offers.OfferViewSet, basename="campaign-offer")
router.register("campaign-templates", recipes.RecipeViewSet, basename="campaign-template")
router.register("tools", tools.ToolViewSet, basename="tool")
urlpatterns = [
    path("campaigns/<int:pk>/sharing/", sharing.CampaignSharing.as_view(), name="campaign-sharing"),
    path("campaigns/<int:pk>/tags/", notes.CampaignTags.as_view(), name="campaign-tags"),
    path("campaigns/<int:pk>/recipe/", runnable.CampaignRecipe.as_view(), name="campaign-recipe"),
    path("campaigns/run/", runnable.RunRecipe.as_view(), name="campaign-run"),
    *router.urls,
]
