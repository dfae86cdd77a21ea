"""What templates know of the signed-in person."""

from django.http import HttpRequest

from apps.accounts.models import User

_SYMBOLS = {User.Theme.AUTO: "circle-half", User.Theme.LIGHT: "sun", User.Theme.DARK: "moon-stars"}


def account(request: HttpRequest) -> dict[str, object]:
    """Return the theme and the choices of it."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"theme": User.Theme.AUTO}
    return {
        "theme": user.theme,
        "theme_choices": [(choice.value, _SYMBOLS[choice], choice.label) for choice in User.Theme],
    }
