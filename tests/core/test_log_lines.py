"""What somebody else said stays within the line of a log that tells of it."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.test import Client, override_settings

from apps.config.settings import logs
from apps.core.log_lines import LineFormatter, PerMinute, RefusedPerMinute
from tests import factories as people

LOGGING = logs.logging_of(Path("log"), has_access=True)
FORMAT = LOGGING["formatters"]["line"]["format"]


def lines_of(message: str, *arguments: object, error: Exception | None = None) -> list[str]:
    raised = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("fathom.x", logging.WARNING, "x.py", 1, message, arguments, raised)
    return LineFormatter(FORMAT).format(record).split("\n")


def test_every_handler_of_ours_writes_lines() -> None:
    assert LOGGING["formatters"]["line"]["()"] == f"{LineFormatter.__module__}.{LineFormatter.__qualname__}"
    assert {handler["formatter"] for handler in LOGGING["handlers"].values()} == {"line"}


@pytest.mark.parametrize("sign", ["\n", "\r", "\x0b", "\x0c", "\x1b[2K", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_a_record_is_one_line(sign: str) -> None:
    (line,) = lines_of("Trouble: %s", f"a{sign}2026-01-01 INFO fathom.audit forged")
    assert line.splitlines() == [line]
    assert "forged" in line and "부산" in lines_of("부산")[0]


def test_a_long_record_is_cut_and_says_so() -> None:
    (line,) = lines_of("Not Found: /%s", "x" * 60_000)
    assert len(line) < 4100
    assert line.endswith("more signs)")


def test_no_line_of_a_traceback_is_a_record() -> None:
    try:
        raise ValueError("wrong\n2026-01-01 INFO fathom.audit forged")
    except ValueError as error:
        first, *rest = lines_of("Failed", error=error)
    assert first.endswith("Failed")
    assert any("forged" in line for line in rest)
    assert all(line.startswith("    ") for line in rest)


def test_each_that_records_are_about_has_a_minute_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("apps.core.log_lines.time.monotonic", lambda: clock[0])
    seldom, lines = PerMinute(), []
    for clock[0] in (1.0, 2.0, 3.0, 62.0):
        for about in ("a", "b 100%"):
            record = logging.makeLogRecord({"msg": "%s asks", "args": (about,), "about": about})
            lines += [record.getMessage()] if seldom.filter(record) else []
    more = "(2 more since the last such line)"
    assert lines == ["a asks", "b 100% asks", f"a asks {more}", f"b 100% asks {more}"]
    for number in range(5000):
        seldom.filter(logging.makeLogRecord({"about": number}))
    assert len(seldom._counts) == 1000


@pytest.mark.django_db
def test_a_hosts_strange_name_is_one_line_a_minute(
    caplog: pytest.LogCaptureFixture, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, now = logging.getLogger("django.security.DisallowedHost"), 0.0
    assert {type(each) for each in logger.filters} == {PerMinute}
    monkeypatch.setattr("apps.core.log_lines.time.monotonic", lambda: now)
    monkeypatch.setattr(logger, "filters", [PerMinute()])
    with override_settings(ALLOWED_HOSTS=["here"]):
        for now in (1.0, 2.0, 3.0, 70.0):
            assert client.get("/", headers={"host": f"evil{now:.0f}.example"}).status_code == 400
    records = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    assert ["evil1.example" in records[0].getMessage(), "evil70.example" in records[1].getMessage()] == [True, True]
    assert "(2 more since the last such line)" in records[1].getMessage()
    assert len(records) == 2
    assert not any(record.exc_info for record in records)


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "method"), [("request", "get"), ("security.csrf", "post")])
def test_who_is_refused_again_and_again_turns_nothing_out_of_the_log(
    name: str, method: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, most = logging.getLogger(f"django.{name}"), LOGGING["filters"]["some"]["most"]
    assert {type(each) for each in logger.filters} == {PerMinute}
    monkeypatch.setattr(logger, "filters", [PerMinute(most)])
    for _request in range(most + 20):
        getattr(Client(enforce_csrf_checks=True), method)("/nowhere/" if method == "get" else "/accounts/login/")
    assert len([record for record in caplog.records if record.name == logger.name]) == most
    logger.error("ours", extra={"status_code": 500})
    assert caplog.records[-1].getMessage() == "ours"


@pytest.mark.django_db
def test_nobody_turns_out_of_the_file_who_changed_what(
    cast: SimpleNamespace, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, most = logging.getLogger("fathom.access"), LOGGING["filters"]["refused"]["most"]
    assert {type(each) for each in logger.filters} == {RefusedPerMinute}
    monkeypatch.setattr(logger, "filters", [RefusedPerMinute(most)])
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    person = people.signed_in(cast.oscar)
    for client in (Client(), person):
        for _request in range(most + 20):
            client.post("/" + "\N{GRINNING FACE}" * 500 + "/")
    # However many tokens one has made.
    for _token in range(3):
        Client().delete("/api/v1/campaigns/999999/", **people.bearer(cast.oscar, "read"))
    # What a person does is all there.
    for _request in range(most + 20):
        person.post("/accounts/language/", {"language": "en"})
    lines = [record.getMessage() for record in caplog.records if record.name == logger.name]
    assert len([line for line in lines if "user=- " in line]) == most
    assert len([line for line in lines if "user=oscar" in line]) == most + most + 20
    assert max(map(len, lines)) < 500
