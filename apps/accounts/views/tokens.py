"""API tokens: made, shown once, listed, revoked."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts import queries, services
from apps.accounts.forms import NewTokenForm
from apps.accounts.rights import user_of


@login_required
@require_safe
def token_list(request: HttpRequest) -> HttpResponse:
    """List one's tokens with their last use."""
    context = {"tokens": queries.tokens_of(user_of(request)), "now": timezone.now()}
    return render(request, "accounts/token_list.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once."""
    form = NewTokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        token, text = services.issue_token(
            user=user_of(request),
            name=form.cleaned_data["name"],
            scope=form.cleaned_data["scope"],
            expires_at=form.expires_at(now),
            now=now,
        )
        address = request.build_absolute_uri("/api/v1/me/")
        return render(request, "accounts/token_made.html", {"token": token, "text": text, "address": address})
    return render(request, "accounts/token_create.html", {"form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token after asking."""
    token = get_object_or_404(queries.tokens_of(user_of(request)).filter(revoked_at=None), pk=pk)
    if request.method != "POST":
        return render(request, "accounts/token_revoke.html", {"token": token})
    services.revoke_token(token=token, now=timezone.now())
    messages.success(request, _("Token “%(name)s” was revoked.") % {"name": token.name})
    return redirect("accounts:tokens")
