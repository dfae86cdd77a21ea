"""Pages."""

from django.urls import path

from apps.tuning import views

app_name = "tuning"
urlpatterns = [
    path("", views.finding_list, name="list"),
    path("<int:pk>/", views.finding_detail, name="detail"),
    path("<int:pk>/decide/", views.decide, name="decide"),
    path("<int:pk>/verify/", views.verify, name="verify"),
    path("<int:pk>/verifications/", views.verifications, name="verifications"),
    path("<int:pk>/draft/", views.draft, name="draft"),
    path("campaigns/<int:pk>/", views.campaign_panel, name="campaign_panel"),
]
