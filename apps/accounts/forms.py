"""Forms: the base of those over what teams own, and those of people, teams and tokens."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import FieldDoesNotExist
from django.core.validators import MaxLengthValidator
from django.db.models import Model, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import consent, rights
from apps.accounts.models import ApiToken, Membership, Role, Team, User
from apps.core import moments
from apps.core.forms import StyledWidgets


class TeamForm(StyledWidgets, forms.ModelForm):
    """A form over one team's things: what it offers to choose from is that team's, names are unique in the team."""

    def __init__(self, *args: Any, team: Team, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        self.user = user
        if self.instance.pk is None and _has_field(self._meta.model, "team"):
            self.instance.team = team
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField):
                choices: Any = field.queryset
                if _has_field(choices.model, "team"):
                    field.queryset = choices.filter(team=team)

    def clean(self) -> dict[str, Any] | None:
        """Refuse a name the team already uses, at the field."""
        cleaned = super().clean()
        refuse_taken_name(self, self._meta.model, self.team, except_for=self.instance.pk)
        return cleaned


class CloneForm(StyledWidgets, forms.Form):
    """The name of a copy."""

    name = forms.CharField(label=gettext_lazy("Name of the copy"), max_length=100)

    def __init__(self, *args: Any, model: type[Model], team: Team, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.model = model
        self.team = team
        self.user = user

    def clean(self) -> dict[str, Any] | None:
        """Refuse a name the team already uses, at the field."""
        cleaned = super().clean()
        refuse_taken_name(self, self.model, self.team)
        return cleaned


def refuse_taken_name(form: forms.BaseForm, model: type[Model], team: Team, except_for: object = None) -> None:
    """Add an error to the form's `name` if another of the team's things of this kind has it."""
    name = form.cleaned_data.get("name")
    if not name or not _has_field(model, "team"):
        return
    if model._default_manager.filter(team=team, name=name).exclude(pk=except_for).exists():
        text = _("%(team)s already has a %(kind)s called “%(name)s”: choose another name.")
        form.add_error("name", text % {"team": team, "kind": model._meta.verbose_name, "name": name})


def _has_field(model: type[Model], name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


class _BoundedName(AuthenticationForm):
    """Username and password, of which the name is no longer than any person's.

    Django bounds it in the browser only. What a longer one tries would be hashed, and is too long for the row in
    which failures are counted.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].validators.append(MaxLengthValidator(self.username_field.max_length or 0))


class SignInForm(StyledWidgets, _BoundedName):
    """Username and password."""


class AdministratorSignInForm(_BoundedName, AdminAuthenticationForm):
    """The same for the administrator's pages."""


class PasswordForm(StyledWidgets, PasswordChangeForm):
    """The old password and the new one twice, and whether the person's API tokens end with the old one."""

    end_tokens = forms.BooleanField(
        label=gettext_lazy("End my API tokens, too"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Whoever knew the old password may have made one. Scripts need new tokens then."),
    )

    def hash_password(self) -> None:
        """Give the person the new password, which `save` only writes: to hash it takes long, and a turn."""
        self.user.set_password(self.cleaned_data["new_password1"])

    def save(self, commit: bool = True) -> Any:
        """Write the person with the password that was hashed before."""
        if commit:
            self.user.save()
        return self.user


class TimezoneInput(forms.TextInput):
    """A text with the names of all time zones to choose from."""

    template_name = "accounts/timezone_input.html"

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        """Add the names."""
        context = super().get_context(name, value, attrs)
        context["widget"]["zones"] = sorted(zone for zone in moments.zones() if "/" in zone or zone == "UTC")
        return context


class ProfileForm(StyledWidgets, forms.ModelForm):
    """How a person likes to see the pages."""

    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=[("", gettext_lazy("As the browser asks")), *settings.LANGUAGES],
    )

    class Meta:
        model = User
        fields = ["first_name", "last_name", "email", "default_team", "language", "timezone", "theme"]
        widgets = {
            "timezone": TimezoneInput(attrs={"autocomplete": "off", "spellcheck": "false", "list": "time-zones"})
        }
        help_texts = {
            "default_team": gettext_lazy(
                "What you make lands in it unless you name another. Invitations never change it."
            ),
            "timezone": gettext_lazy("All times are shown in it. Begin to type, for example Asia/Seoul."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams: Any = self.fields["default_team"]
        # The choice stays one's own where somebody lowered the role since.
        is_offered = Q(pk__in=rights.teams_for(self.instance, Role.OPERATOR).values("pk"))
        is_offered |= Q(pk=self.instance.default_team_id)
        teams.queryset = rights.teams_for(self.instance, Role.VIEWER).filter(is_offered)
        teams.empty_label = _("The one that you joined first")

    def save(self, commit: bool = True) -> User:
        """Save it; an address that somebody gives themselves proves nothing."""
        consent.claim(self.instance, before=self.initial.get("email", ""))
        user: User = super().save(commit)
        return user


class NewTeamForm(StyledWidgets, forms.ModelForm):
    """A new team's name."""

    class Meta:
        model = Team
        fields = ["name", "slug"]
        help_texts = {
            "slug": gettext_lazy(
                "Stands for the team in addresses and over REST; it stays. Made from the name if empty."
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False


class TeamNameForm(StyledWidgets, forms.ModelForm):
    """A team's name."""

    class Meta:
        model = Team
        fields = ["name"]


class InvitationForm(StyledWidgets, forms.Form):
    """A person to invite into a team."""

    username = forms.CharField(
        label=gettext_lazy("Username"),
        max_length=150,
        help_text=gettext_lazy(
            "They join once they accept; nobody is told whether such an account exists: an administrator makes "
            "accounts."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices, initial=Role.VIEWER)


class RoleForm(forms.ModelForm):
    """A member's role."""

    class Meta:
        model = Membership
        fields = ["role"]


class NewTokenForm(StyledWidgets, forms.Form):
    """What a new API token may do and for how long."""

    DAYS = (
        ("30", gettext_lazy("30 days")),
        ("90", gettext_lazy("90 days")),
        ("365", gettext_lazy("1 year")),
        ("0", gettext_lazy("never")),
    )

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("What it is for, for example “nightly sweep”."),
    )
    scope = forms.ChoiceField(
        label=gettext_lazy("Scope"), choices=ApiToken.Scope.choices, initial=ApiToken.Scope.READ
    )
    days = forms.ChoiceField(label=gettext_lazy("Expires"), choices=DAYS, initial="90")

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when it expires, None for never."""
        days = int(self.cleaned_data["days"])
        return now + timedelta(days=days) if days else None
