"""The address every chart sends its data to, to come back as a figure."""

import json

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from apps.results.figures import answers


@login_required
@require_POST
def figure(request: HttpRequest) -> HttpResponse:
    """Draw the chart that the page shows; it holds what the reader has already been given, and nothing is stored."""
    try:
        chart = json.loads(request.POST.get("chart", ""))
    except ValueError:
        chart = None
    ending = request.POST.get("ending", "")
    return answers.figure_answer(request, chart, ending=ending, name=request.POST.get("name", ""))
