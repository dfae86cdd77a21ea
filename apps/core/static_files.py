"""Style sheets, scripts and pictures of the pages, as one step of the way that a request goes in one thread."""

from collections.abc import Callable

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware


class StaticFilesMiddleware:
    """Answers with the static file that an address names.

    Put among the others itself, ServeStatic's, which is asynchronous, has each request for a page go from thread to
    thread at every one that stands before it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._static = ServeStaticMiddleware(_never)
        self._serve = async_to_sync(self._static.aserve)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        file = self._static.files.get(request.path_info)
        return self.get_response(request) if file is None else self._serve(file, request)


async def _never(_request: HttpRequest) -> HttpResponseBase:
    raise AssertionError("Pages are not asked for through the middleware of ServeStatic.")
