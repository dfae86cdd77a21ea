"""Pages."""

from django.urls import path

from apps.tuning import views
from apps.tuning.analysis import views as analysis
from apps.tuning.prediction import views as prediction
from apps.tuning.sites import views as sites
from apps.tuning.workloads import views as workloads

app_name = "tuning"
urlpatterns = [
    path("", views.finding_list, name="list"),
    path("<int:pk>/", views.finding_detail, name="detail"),
    path("<int:pk>/decide/", views.decide, name="decide"),
    path("<int:pk>/verify/", views.verify, name="verify"),
    path("<int:pk>/verifications/", views.verifications, name="verifications"),
    path("<int:pk>/draft/", views.draft, name="draft"),
    path("sites/", sites.site_list, name="sites"),
    path("sites/<int:a>/<int:b>/", sites.site_layers, name="site_layers"),
    path("sites/<int:a>/<int:b>/draft/", sites.draft, name="site_draft"),
    path("workload/", workloads.workload, name="workload"),
    path("workload/draft/", workloads.draft, name="workload_draft"),
    path("predict/<int:pk>/", prediction.prediction, name="predict"),
    path("campaigns/<int:pk>/analyse/", analysis.retry, name="analyse"),
    path("campaigns/<int:pk>/", views.campaign_panel, name="campaign_panel"),
]
