"""Pages."""

from django.urls import path

from apps.campaigns.views import campaigns, dates, experiments, launches, notes, offers, recipes, sharing

app_name = "campaigns"
urlpatterns = [
    path("", campaigns.CampaignList.as_view(), name="campaign_list"),
    path("dates/", dates.preview, name="dates"),
    path("deletions/", campaigns.deletions, name="deletions"),
    path("offers/", offers.offer_list, name="offers"),
    path("offers/<int:pk>/accept/", offers.accept, name="offer_accept"),
    path("offers/<int:pk>/decline/", offers.decline, name="offer_decline"),
    path("new/", campaigns.CampaignCreate.as_view(), name="campaign_create"),
    path("templates/<slug:slug>/", recipes.create, name="recipe"),
    path("<int:pk>/", campaigns.detail, name="campaign_detail"),
    path("<int:pk>/edit/", campaigns.CampaignUpdate.as_view(), name="campaign_update"),
    path("<int:pk>/clone/", campaigns.CampaignClone.as_view(), name="campaign_clone"),
    path("<int:pk>/delete/", campaigns.CampaignDelete.as_view(), name="campaign_delete"),
    path("<int:pk>/sharing/", sharing.sharing, name="sharing"),
    path("<int:pk>/notes/", notes.notes, name="notes"),
    path("<int:pk>/notes/add/", notes.add, name="note_add"),
    path("<int:pk>/tags/", notes.tags, name="tags"),
    path("notes/<int:pk>/change/", notes.change, name="note_change"),
    path("notes/<int:pk>/delete/", notes.delete, name="note_delete"),
    path("<int:pk>/status/", campaigns.status, name="campaign_status"),
    path("<int:pk>/drawing/", campaigns.drawing, name="campaign_drawing"),
    path("<int:pk>/events/", campaigns.events, name="campaign_events"),
    path("<int:pk>/launch/", launches.confirm_launch, name="confirm_launch"),
    path("<int:pk>/launch/now/", launches.launch, name="launch"),
    path("<int:pk>/pause/", campaigns.pause, name="pause"),
    path("<int:pk>/resume/", campaigns.resume, name="resume"),
    path("<int:pk>/withdraw/", campaigns.withdraw, name="withdraw"),
    path("<int:pk>/cancel/", campaigns.cancel, name="cancel"),
    path("<int:pk>/rerun-failed/", campaigns.rerun_failed, name="rerun_failed"),
    path("<int:pk>/experiments/new/", experiments.create, name="experiment_create"),
    path("<int:pk>/experiments/preview/", experiments.preview, name="experiment_preview"),
    path("experiments/<int:pk>/edit/", experiments.update, name="experiment_update"),
    path("experiments/<int:pk>/delete/", experiments.delete, name="experiment_delete"),
]
