"""Figures as downloads, and clear words where there can be none."""

import logging
from contextlib import ExitStack

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_page
from django.utils.text import slugify
from django.utils.translation import gettext as _

from apps.comparison.figures import checks, renderer
from apps.core import messages
from apps.core.limits.at_once import Asker, Askers, asker_of
from apps.core.limits.policies import LimitExceededError

logger = logging.getLogger(__name__)
# Of one person, with all their browsers, one figure is drawn at a time: who asks for many leaves a place to others.
_places = Askers(1, wait_s=renderer.WAIT_S)
# Nor does a team with its people have all places.
_places_of_team = Askers(renderer.AT_ONCE - 1, wait_s=renderer.WAIT_S)


def _askers_of(request: HttpRequest) -> list[tuple[Asker, Askers]]:
    """Return as whom a request waits, always in the same order: as a person, and as each of the person's teams."""
    memberships = request.user.memberships.order_by("team_id") if request.user.is_authenticated else []
    teams = [(Asker(f"team {item.team_id}"), _places_of_team) for item in memberships]
    return [(asker_of(request), _places), *teams]


def figure_answer(request: HttpRequest, chart: object, *, ending: str, name: str) -> HttpResponse:
    """Return the chart as a file to download, or the page that says why not and what to do."""
    if ending not in renderer.TYPES:
        return _refusal(request, 400, _("Choose PNG or SVG for the figure."))
    try:
        with ExitStack() as turns:
            for asker, places in _askers_of(request):
                turns.enter_context(places.turn(asker))
            figure = renderer.render(chart, ending)
    except checks.ChartError as error:
        text = _("The data of the chart is not as it should be: %(place)s: %(what)s.") % {
            "place": error.place,
            "what": messages.render(error.message),
        }
        return _refusal(request, 400, text)
    except LimitExceededError as error:
        return _refusal(request, 429, messages.render(error.message))
    except renderer.FiguresBusy:
        return _refusal(request, 503, _("Many figures are being drawn at this moment. Ask again in a minute."))
    except renderer.FigureError:
        logger.exception("A figure could not be drawn")
        return _refusal(request, 500, _("The figure could not be drawn; the service's log says why."))
    file_name = f"{slugify(name) or 'figure'}.{ending}"
    return HttpResponse(
        figure,
        content_type=renderer.TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
    )


def _refusal(request: HttpRequest, status: int, reason: str) -> HttpResponse:
    return render_page(request, "results/figure_refused.html", {"reason": reason, "status": status}, status=status)
