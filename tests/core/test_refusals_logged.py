"""What is refused, and an answer whose reader goes, is a line in the log and no traceback: nothing of ours broke."""

import io
import logging
import logging.config
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.core.handlers.exception import response_for_exception
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.test import RequestFactory, override_settings
from uvicorn import Config

from apps.config.settings import logs
from apps.core import streams
from apps.core.log_lines import ExpectedOutcome


def kinds_of(kind: type[Exception]) -> list[type[Exception]]:
    """Return a kind of exceptions and all that are of it."""
    return [kind, *(each for below in kind.__subclasses__() for each in kinds_of(below))]


REFUSALS = [Http404, PermissionDenied, BadRequest, MultiPartParserError, *kinds_of(SuspiciousOperation)]


@pytest.fixture
def console(tmp_path: Path) -> Iterator[io.StringIO]:
    """Log as the service does, to a text."""
    text = io.StringIO()
    settings = logs.logging_of(tmp_path, has_access=False)
    names = ["", *settings["loggers"], "uvicorn", "uvicorn.access"]
    loggers = [logging.getLogger(name) for name in names]
    before = [(each, each.handlers[:], each.filters[:], each.level, each.propagate) for each in loggers]
    settings["handlers"]["console"] |= {"stream": text}
    settings["handlers"] |= {name: {"class": "logging.NullHandler"} for name in logs.FILES}
    Config("nothing")
    logging.config.dictConfig(settings)
    for handler in logging.getLogger("uvicorn").handlers:
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(text)
    yield text
    for each, handlers, filters, level, propagate in before:
        each.handlers[:], each.filters[:], each.propagate = handlers, filters, propagate
        each.setLevel(level)


@pytest.mark.parametrize("kind", REFUSALS)
@override_settings(DEBUG=False)
def test_a_refusal_is_a_line_without_a_traceback(kind: type[Exception], console: io.StringIO) -> None:
    try:
        raise kind("No.\nIt is not yours.")
    except Exception as error:
        answer = response_for_exception(RequestFactory().get("/refused"), error)
    assert 400 <= answer.status_code < 500
    assert len(console.getvalue().splitlines()) <= 1, console.getvalue()


@pytest.mark.parametrize("kind", kinds_of(ExpectedOutcome))
def test_what_ends_an_answer_as_expected_is_a_warning(kind: type[Exception], console: io.StringIO) -> None:
    assert streams.Stalled in kinds_of(ExpectedOutcome)
    try:
        raise kind("The reader went.")
    except Exception as error:
        logging.getLogger("uvicorn.error").error("Exception in ASGI application\n", exc_info=error)
    assert console.getvalue() == "WARNING:  The reader went.\n"


def test_what_breaks_has_its_traceback_and_503_is_not_logged_for_each_request(console: io.StringIO) -> None:
    try:
        raise ValueError("ours")
    except ValueError as error:
        logging.getLogger("uvicorn.error").error("Exception in ASGI application\n", exc_info=error)
        logging.getLogger("django.request").error("Broken", exc_info=error, extra={"status_code": 500})
    assert console.getvalue().count("ValueError: ours") == 2
    logging.getLogger("django.request").error("Away", extra={"status_code": 503})
    assert "Away" not in console.getvalue()
