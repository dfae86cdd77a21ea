"""Settings at a start: what is wrong is named and nothing starts; names of its own keep nobody out."""

import contextlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from launch import service
from tests.launch import stack
from tests.launch.conftest import NAME
from tests.launch.watching import wait_for
from tests.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("launch-service")]


def manage(running: stack.Stack, *arguments: str) -> str:
    """Run a command as docs/running.md says, with none of the settings of the service but its folder."""
    env = {"PATH": os.environ["PATH"], "FATHOM_VAR": str(running.folder)}
    argv = [sys.executable, "manage.py", *arguments]
    return subprocess.run(argv, cwd=stack.ROOT, env=env, check=True, capture_output=True, text=True).stdout


def test_every_wrong_setting_is_named_before_anything_starts(tmp_path: Path) -> None:
    wrong = {"HTTPS": "maybe", "EMAIL_PORT": "twentyfive", "WEB_CONNECTIONS": "2"}
    # No servers of its own, which take a second to make.
    refused = stack.Stack(tmp_path / "var", DATABASE_URL="postgresql:///none", REDIS_URL="unix:///none", **wrong)
    assert refused.process.wait(60) == 1
    for name, value in wrong.items():
        assert f"{name}={value}: give " in refused.printed()
    assert "Traceback" not in refused.printed() and " started" not in refused.printed()


def test_who_listens_everywhere_says_by_which_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql:///none")
    monkeypatch.setenv("REDIS_URL", "unix:///none")
    monkeypatch.delenv("ALLOWED_HOSTS", raising=False)
    told: list[str] = []
    refused = service.Service(
        tmp_path / "var", port=free_port(), binds=["0.0.0.0"], report=lambda _part, text: told.append(text)
    )
    with pytest.raises(service.SettingsError, match="say in ALLOWED_HOSTS"):
        refused.start()
    assert told == []


def test_under_a_name_of_its_own_it_answers_to_that_and_to_its_supervisor(running: stack.Stack) -> None:
    for host, status in ((NAME, 200), ("127.0.0.1", 200), ("elsewhere.example.org", 400)):
        request = urllib.request.Request(f"{running.address}/accounts/login/", headers={"Host": host})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert answer.status == status, host
        except urllib.error.HTTPError as error:
            assert error.code == status, host


def test_commands_work_as_documented_with_none_of_its_settings(running: stack.Stack) -> None:
    def token() -> str:
        # There is none before the first account is made.
        with contextlib.suppress(subprocess.CalledProcessError):
            return manage(running, "create_token", "--username", "admin", "--name", "nightly job").strip()
        return ""

    assert wait_for(lambda: len(token()) > 20, 60)
