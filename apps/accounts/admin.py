"""The administrator's pages of people and teams."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts import services
from apps.accounts.forms import AdministratorSignInForm
from apps.accounts.models import ApiToken, Membership, Team, User
from apps.core.forms import BoundedInlineFormSet

admin.site.login_form = AdministratorSignInForm


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
    """Shows tokens, and revokes them with those that were made with them; they are made by their owners."""

    list_display = ["name", "user", "scope", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    # An end that is written into one row would leave alive what was made with it.
    readonly_fields = ["user", "prefix", "scope", "expires_at", "last_used_at", "revoked_at"]
    exclude = ["digest"]
    actions = ["revoke"]

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """End them."""
        for token in queryset.select_related("user"):
            services.revoke_token(token=token, now=timezone.now())

    def has_add_permission(self, request: object) -> bool:
        return False
