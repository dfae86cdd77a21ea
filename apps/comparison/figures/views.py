"""The address every chart sends its data to, to come back as a figure."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from apps.comparison.figures import answers
from apps.core import documents

_LIMITS = documents.DocumentLimits(most_bytes=settings.FORM_MOST_BYTES, deepest=16, most_values=1_000_000)


@login_required
@require_POST
def figure(request: HttpRequest) -> HttpResponse:
    """Draw the chart that the page shows; it holds what the reader has already been given, and nothing is stored."""
    try:
        chart = documents.read_json(request.POST.get("chart", ""), _LIMITS)
    except documents.UnreadableError:
        chart = None
    ending = request.POST.get("ending", "")
    return answers.figure_answer(request, chart, ending=ending, name=request.POST.get("name", ""))
