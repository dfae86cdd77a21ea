"""The administrator's page of what the timetable could not do."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.core.models import SetAside


@admin.register(SetAside)
class SetAsideAdmin(admin.ModelAdmin):
    """Lists the rows with which periodic work fails; to delete one has it tried again at once."""

    list_display = ("work", "row_id", "reason", "attempts", "first_at", "last_at", "retry_at")
    list_filter = ("work",)
    readonly_fields = ("work", "row_id", "reason", "attempts", "first_at", "last_at", "retry_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Say that nobody adds one."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say that nobody changes one."""
        return False
