"""The administrator's pages of people and teams."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import ApiToken, Membership, Team, User
from apps.core.forms import BoundedInlineFormSet


class MembershipInline(admin.TabularInline):
    model = Membership
    formset = BoundedInlineFormSet
    extra = 0
    autocomplete_fields = ["user"]


@admin.register(User)
class PersonAdmin(UserAdmin):
    fieldsets = (*(UserAdmin.fieldsets or ()), (_("Preferences"), {"fields": ("language", "timezone", "theme")}))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save it; an address that the administrator gives counts as theirs."""
        if "email" in form.changed_data:
            obj.claimed_email = ""
        super().save_model(request, obj, form, change)


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    inlines = [MembershipInline]


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    """Shows tokens; they are made by their owners."""

    list_display = ["name", "user", "scope", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    readonly_fields = ["user", "prefix", "scope", "last_used_at"]
    exclude = ["digest"]

    def has_add_permission(self, request: object) -> bool:
        return False
