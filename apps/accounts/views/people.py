"""Sign in and out, password, profile, language and theme."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.messages.views import SuccessMessageMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views import generic
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from apps.accounts import queries, services
from apps.accounts.forms import PasswordForm, ProfileForm, SignInForm
from apps.accounts.models import User
from apps.accounts.rights import user_of
from apps.core import editing
from apps.core.versions import lock_row


class SignIn(auth.LoginView):
    """Asks who is there."""

    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class ChangePassword(SuccessMessageMixin, auth.PasswordChangeView):
    """Changes one's password; other browsers that were signed in are signed out by it."""

    template_name = "accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("accounts:profile")
    success_message = gettext_lazy("The password was changed. Other browsers are signed out.")

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and end the person's tokens if they wish it."""
        # No transaction waits for it.
        form.hash_password()
        with transaction.atomic():
            response = super().form_valid(form)
            if form.cleaned_data["end_tokens"]:
                ended = services.revoke_tokens(user=user_of(self.request), now=timezone.now())
                if ended:
                    text = ngettext("%(count)s API token has ended.", "%(count)s API tokens have ended.", ended)
                    messages.info(self.request, text % {"count": ended})
        return response


class Profile(editing.GuardedPage, LoginRequiredMixin, generic.UpdateView):
    """Name, language, time zone and theme of the person who is signed in."""

    template_name = "accounts/profile.html"
    form_class = ProfileForm
    success_url = reverse_lazy("accounts:profile")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Save it, the person's row held meanwhile: they may have two windows open."""
        with transaction.atomic():
            lock_row(user_of(request))
            return super().post(request, *args, **kwargs)

    def get_object(self, queryset: Any = None) -> User:
        """Return a copy of the person, so that a refused form changes nothing on the page around it."""
        return User.objects.get(pk=user_of(self.request).pk)

    def form_valid(self, form: Any) -> HttpResponse:
        """Save, and answer in the language just chosen."""
        response = super().form_valid(form)
        if form.conflict is None:
            if form.instance.language:
                translation.activate(form.instance.language)
            messages.success(self.request, _("The profile was saved."))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the person's teams."""
        return super().get_context_data(**kwargs) | {"teams": queries.teams_of(user_of(self.request))}


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose a language: kept in the profile of who is signed in, for a stranger in a cookie."""
    chosen = request.POST.get("language", "")
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        User.objects.filter(pk=user_of(request).pk).update(language=chosen)
    return set_language(request)


@login_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Choose a theme; a script gets no content, a form goes back to its page."""
    chosen = request.POST.get("theme", "")
    if chosen not in User.Theme.values:
        return HttpResponse(_("Choose auto, light or dark."), status=400, content_type="text/plain; charset=utf-8")
    User.objects.filter(pk=user_of(request).pk).update(theme=chosen)
    if request.headers.get("X-Requested-With") == "fetch":
        return HttpResponse(status=204)
    following = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(following, {request.get_host()}, require_https=request.is_secure())
    return redirect(following if safe else "accounts:profile")
