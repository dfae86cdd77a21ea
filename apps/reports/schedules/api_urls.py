"""REST addresses of management reports and of schedules."""

from rest_framework.routers import SimpleRouter

from apps.reports.overview.api import ManagementReportViewSet
from apps.reports.schedules.api import ScheduleViewSet

router = SimpleRouter()
router.register("management-reports", ManagementReportViewSet, basename="managementreport")
router.register("report-schedules", ScheduleViewSet, basename="reportschedule")
urlpatterns = router.urls
