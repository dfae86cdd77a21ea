"""Pages."""

from django.urls import path

from apps.reports.views import editions, edits, reports

app_name = "reports"
urlpatterns = [
    path("", reports.report_list, name="list"),
    path("campaigns/<int:pk>/", reports.begin, name="begin"),
    path("<int:pk>/", reports.detail, name="detail"),
    path("<int:pk>/scope/", reports.scope, name="scope"),
    path("<int:pk>/freeze/", reports.freeze, name="freeze"),
    path("<int:pk>/delete/", reports.delete, name="delete"),
    path("<int:pk>/words/", edits.words, name="words"),
    path("<int:pk>/remark/", edits.remark, name="remark"),
    path("<int:pk>/drop/", edits.drop, name="drop"),
    path("<int:pk>/move/", edits.move, name="move"),
    path("<int:pk>/own/", edits.own, name="own"),
    path("editions/<str:permanent_id>/", editions.edition, name="edition"),
    path("editions/<str:permanent_id>/document.json", editions.document, name="edition_document"),
]
