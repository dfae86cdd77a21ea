"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.tuning import api
from apps.tuning.analysis import api as analyses
from apps.tuning.prediction import api as prediction
from apps.tuning.sites import api as sites
from apps.tuning.workloads import api as workloads

router = SimpleRouter()
router.register("findings", api.FindingViewSet, basename="finding")
urlpatterns = [
    path("analyses/", analyses.UnfinishedAnalyses.as_view(), name="analyses"),
    path("analyses/<int:campaign>/", analyses.AnalysisOfCampaign.as_view(), name="analysis"),
    path("analyses/<int:campaign>/retry/", analyses.RetryAnalysis.as_view(), name="analysis-retry"),
    path("site-layers/", sites.SitePairs.as_view(), name="site-layers"),
    path("site-layers/<int:a>/<int:b>/", sites.SiteLayers.as_view(), name="site-layers-detail"),
    path("site-layers/<int:a>/<int:b>/draft/", sites.DraftOfLayers.as_view(), name="site-layers-draft"),
    path("workload/", workloads.FitOfWorkload.as_view(), name="workload"),
    path("workload/draft/", workloads.DraftOfWorkload.as_view(), name="workload-draft"),
    path("experiments/<int:pk>/prediction/", prediction.PredictSetting.as_view(), name="experiment-prediction"),
    *router.urls,
]
