"""Pages."""

from django.urls import path

from apps.reports.schedules import views

app_name = "schedules"
urlpatterns = [
    path("", views.ScheduleList.as_view(), name="schedule_list"),
    path("dates/", views.dates, name="dates"),
    path("new/", views.ScheduleCreate.as_view(), name="schedule_create"),
    path("<int:pk>/", views.ScheduleDetail.as_view(), name="schedule_detail"),
    path("<int:pk>/edit/", views.ScheduleUpdate.as_view(), name="schedule_update"),
    path("<int:pk>/delete/", views.ScheduleDelete.as_view(), name="schedule_delete"),
    path("<int:pk>/deliveries/", views.deliveries, name="deliveries"),
    path("<int:pk>/deliver/", views.deliver, name="deliver"),
    path("<int:pk>/ask/", views.ask, name="ask"),
]
