"""Figures as downloads, and clear words where there can be none."""

import logging

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_page
from django.utils.text import slugify
from django.utils.translation import gettext as _

from apps.accounts.owners import owners_asking
from apps.comparison.figures import checks, renderer
from apps.core import messages
from apps.core.limits.fair_places import PlacesTakenError

logger = logging.getLogger(__name__)


def figure_answer(request: HttpRequest, chart: object, *, ending: str, name: str) -> HttpResponse:
    """Return the chart as a file to download, or the page that says why not and what to do."""
    if ending not in renderer.TYPES:
        return _refusal(request, 400, _("Choose PNG or SVG for the figure."))
    try:
        figure = renderer.render(chart, ending, owners=owners_asking(request))
    except checks.ChartError as error:
        text = _("The data of the chart is not as it should be: %(place)s: %(what)s.") % {
            "place": error.place,
            "what": messages.render(error.message),
        }
        return _refusal(request, 400, text)
    except PlacesTakenError as error:
        if error.is_own:
            return _refusal(request, 429, messages.render(error.message))
        return _refusal(request, 503, _("Many figures are being drawn at this moment. Ask again in a minute."))
    except renderer.FigureTooLarge:
        text = _("The figure takes too long to be drawn: show fewer points in it, or take its data as CSV.")
        return _refusal(request, 400, text)
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
