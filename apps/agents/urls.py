"""Pages."""

from django.urls import path, re_path

from apps.agents import program, views

app_name = "agents"
urlpatterns = [
    path("", views.agent_list, name="list"),
    path(program.NAME, views.download_program, name="program"),
    path(program.UNIT, views.download_unit, name="unit"),
    path("nodes/<int:pk>/", views.detail, name="detail"),
    path("nodes/<int:pk>/enrol/", views.enrol, name="enrol"),
    path("nodes/<int:pk>/retire/", views.retire, name="retire"),
    path("nodes/<int:pk>/instances/<uuid:key>/", views.choose, name="choose"),
    path("nodes/<int:pk>/clear/", views.clear, name="clear"),
    path("nodes/<int:pk>/removed/", views.removed, name="removed"),
    path("nodes/<int:pk>/forget/", views.forget, name="forget"),
    path("facts/<int:pk>/", views.facts, name="facts"),
    re_path(r"^jobs/(?P<pk>[0-9a-f-]{36})/(?P<stream>stdout|stderr)/$", views.job_output, name="job_output"),
    re_path(r"^jobs/(?P<pk>[0-9a-f-]{36})/files/(?P<name>[A-Za-z0-9._+-]{1,100})/$", views.job_file, name="job_file"),
]
