"""REST addresses."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from apps.agents import api, jobs_api

router = SimpleRouter()
router.register("agents", api.AgentViewSet, basename="agent")
router.register("jobs", jobs_api.JobViewSet, basename="job")

urlpatterns = [path("enrolment-tokens/", api.EnrolmentTokens.as_view(), name="enrolment-tokens"), *router.urls]
