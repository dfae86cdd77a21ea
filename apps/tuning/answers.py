"""How a page answers to what makes a campaign: with the campaign, or with what refused it on the earlier page."""

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

# No list has so many parts that its places need more digits.
LONGEST_PLACE = 6


def show_draft(request: HttpRequest, make: Callable[[], int | None], otherwise: str) -> HttpResponse:
    """Show the draft that `make` makes and returns the id of, or what refuses it at the address `otherwise`."""
    return show_campaign(request, make, _("The draft is ready: look at it, then launch it."), otherwise)


def show_campaign(request: HttpRequest, make: Callable[[], int | None], success: str, otherwise: str) -> HttpResponse:
    """Show the campaign that `make` returns the id of with the message `success`, or why not at `otherwise`."""
    try:
        campaign_id = make()
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
        return redirect(otherwise)
    messages.success(request, success)
    return redirect("campaigns:campaign_detail", pk=campaign_id)


def place_of(text: str) -> int | None:
    """Return the place in a list that a button sent, None for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_PLACE else None
