"""Parts of pages that keep themselves up to date."""

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

NO_CONTENT = 204


def asks_for_part(request: HttpRequest) -> bool:
    """Say whether htmx asks, which takes a part of the page only."""
    return request.headers.get("HX-Request") == "true"


def answer(request: HttpRequest, part: str, page: str, context: dict[str, Any], *, every: str = "3s") -> HttpResponse:
    """Return a page with a part that htmx fetches `every` so often, or that part, or 204 if it is as it was.

    `part` and `page` are templates; the page includes `components/live_part.html`. Where the context has a
    `live_heading`, what the page has in `#live-heading` follows it. What has not changed is not swapped, so that a
    reader's focus and selection stay where they are.
    """
    text = render_to_string(part, context, request)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    context |= {"part": text, "digest": digest, "every": every}
    if not asks_for_part(request):
        return render(request, page, context | {"is_page": True})
    if request.GET.get("seen") == digest:
        return HttpResponse(status=NO_CONTENT)
    return render(request, "components/live_part.html", context)
