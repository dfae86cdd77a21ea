"""Lines for whoever looks back: who was let in or given rights, and who asked for what changes something."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.test import Client, RequestFactory
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.accounts import invitations, services
from apps.accounts.models import Invitation, Membership, Role
from apps.agents import services as agents
from apps.campaigns.models import Share
from apps.campaigns.services import offers
from apps.config.settings import logs
from apps.core import audit
from tests import factories
from tests.agents import factories as make
from tests.campaigns import factories as campaigns

NOW = timezone.now()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Return what gives the lines of the two logs so far."""
    caplog.set_level(logging.INFO)
    # The test run's console does not see it, so neither would caplog.
    audit.changes.addHandler(caplog.handler)
    yield lambda: [record.getMessage() for record in caplog.records if record.name.startswith("fathom.")]
    audit.changes.removeHandler(caplog.handler)


def member(cast: SimpleNamespace) -> Membership:
    return Membership.objects.get(team=cast.team, user=cast.bob)


def token(cast: SimpleNamespace) -> Any:
    return services.issue_token(user=cast.oscar, name="script", now=NOW)[0]


def now() -> datetime:
    return timezone.now()


def invited(cast: SimpleNamespace) -> Invitation:
    return invitations.invite(team=cast.team, user=cast.alice, username="charlie", role=Role.VIEWER, now=now())


def request() -> Any:
    return RequestFactory().post("/accounts/login/", REMOTE_ADDR="192.0.2.7")


def offered(cast: SimpleNamespace) -> Share:
    return campaigns.share(campaigns.campaign(cast), cast.other_team, "offered")


# What has to leave a line, and how that begins.
EVENTS: dict[str, Callable[[SimpleNamespace], object]] = {
    "sign-in user=oscar address='192.0.2.7'": lambda cast: authenticate(
        request(), username="oscar", password=factories.PASSWORD
    ),
    "failed-sign-in user='a\\nsign-in user=oscar'": lambda cast: authenticate(
        request(), username="a\nsign-in user=oscar", password="wrong"
    ),
    "person-invited": lambda cast: invited(cast),
    "invitation-withdrawn": lambda cast: invitations.withdraw(invitation=invited(cast), user=cast.alice, now=now()),
    "invitation-declined": lambda cast: invitations.decline(invitation=invited(cast), user=cast.charlie, now=now()),
    "member-added": lambda cast: invitations.accept(invitation=invited(cast), user=cast.charlie, now=now()),
    "role-changed": lambda cast: services.change_role(membership=member(cast), user=cast.alice, role=Role.OPERATOR),
    "member-removed": lambda cast: services.remove_member(membership=member(cast), user=cast.alice),
    "token-made": token,
    "tokens-revoked": lambda cast: services.revoke_tokens(user=cast.alice, now=NOW),
    "token-revoked": lambda cast: services.revoke_token(token=token(cast), now=NOW),
    "share-accepted": lambda cast: offers.accept(share=offered(cast), user=cast.charlie, now=now()),
    "share-declined": lambda cast: offers.decline(share=offered(cast), user=cast.charlie, now=now()),
    "agent-enrolled": lambda cast: make.agent(),
    "agent-retired": lambda cast: agents.retire_agent(agent=make.agent()[0], now=NOW),
}


@pytest.mark.parametrize("begin", EVENTS)
def test_what_concerns_rights_leaves_a_line(
    begin: str, cast: SimpleNamespace, lines: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        EVENTS[begin](cast)
    (line,) = [line for line in lines() if line.startswith(begin)]
    assert "\n" not in line


@pytest.mark.django_db
def test_what_is_rolled_back_leaves_none(cast: SimpleNamespace, lines: Any) -> None:
    # Nothing is ever committed here.
    token(cast)
    assert lines() == []


@pytest.mark.django_db
def test_each_request_that_changes_something_is_a_line_without_its_query(
    client: Client, cast: SimpleNamespace, lines: Any
) -> None:
    client.get("/accounts/login/?password=1")
    assert lines() == []
    client.post("/campaigns/999999/pause/?secret=1", REMOTE_ADDR="192.0.2.7")
    client.force_login(cast.oscar)
    client.post("/campaigns/999999/pause/%0Asecond")
    headers = factories.bearer(cast.oscar)
    client.post("/api/v1/campaigns/", "{}", "application/json", **headers)
    first, second, rest = [line for line in lines() if not line.startswith("sign-in")]
    assert first.startswith("POST /campaigns/999999/pause/ 302 ") and "secret" not in first
    assert first.endswith(" ms user=- token=- address=192.0.2.7")
    assert second.startswith("POST /campaigns/999999/pause/%0Asecond 404 ")
    assert rest.startswith("POST /api/v1/campaigns/ 400 ") and "user=oscar token=" in rest
    assert "token=-" not in rest


def test_files_are_set_aside_when_they_are_long_and_full_disks_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "_MOST_BYTES", 10)
    handler = audit.LogFile(str(tmp_path / "log" / "access.log"))
    for number in range(3):
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, f"the line {number}", None, None))
    assert (tmp_path / "log" / "access.log").read_text() == "the line 2\n"
    assert (tmp_path / "log" / "access.log.1").read_text() == "the line 1\n"
    handler.close()
    full = audit.LogFile("/dev/full")
    full.emit(logging.LogRecord("x", logging.INFO, "", 0, "lost", None, None))
    assert capsys.readouterr().err == ""


@pytest.mark.django_db
@pytest.mark.parametrize("name", logs.FILES)
@pytest.mark.parametrize("fault", ["folder", "full"])
def test_each_file_that_lines_are_left_out_of_is_told_until_it_is_written_again(
    client: Client, tmp_path: Path, name: str, fault: str
) -> None:
    config = logs.logging_of(tmp_path, has_access=True)["handlers"][name]
    handler = import_string(config["class"])(config["filename"])
    path = Path(config["filename"])
    path.mkdir() if fault == "folder" else path.symlink_to("/dev/full")
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "lost", None, None))
    part = client.get("/health/").json()["parts"]["logs"]
    assert (part["ok"], part["since"] is not None) == (False, True)
    assert f"{name}.log" in part["what"]
    assert str(tmp_path) not in part["what"]
    with contextlib.suppress(OSError):
        handler.close()
    path.rmdir() if fault == "folder" else path.unlink()
    assert client.get("/health/").json()["parts"]["logs"]["ok"]
    assert path.read_text().startswith("lines are left out here since ")
    handler.close()


def test_no_file_is_written_to_by_a_handler_of_another_kind(tmp_path: Path) -> None:
    handlers = logs.logging_of(tmp_path, has_access=True)["handlers"].values()
    kinds = {handler["class"] for handler in handlers if "filename" in handler}
    assert kinds == {"apps.core.audit.LogFile"}
