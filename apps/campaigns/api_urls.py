"""REST addresses."""

from rest_framework.routers import SimpleRouter

from apps.campaigns.api import campaigns, experiments, recipes, tools, trials

router = SimpleRouter()
router.register("campaigns", campaigns.CampaignViewSet, basename="campaign")
router.register("experiments", experiments.ExperimentViewSet, basename="experiment")
router.register("trials", trials.TrialViewSet, basename="trial")
router.register("runs", trials.RunViewSet, basename="run")
router.register("campaign-templates", recipes.RecipeViewSet, basename="campaign-template")
router.register("tools", tools.ToolViewSet, basename="tool")
urlpatterns = router.urls
