"""Each setting of the environment: blanks and case mean nothing, and what is wrong is named before a start."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from apps.config.settings.environment import Environment
from apps.config.settings.owned import from_environment

ROOT = Path(__file__).resolve().parents[2]
OWNED_LIMITS = from_environment(Environment({}))
RIGHT = {
    "FATHOM_VAR": "/nowhere",
    "SECRET_KEY": "s" * 50,
    "ALLOWED_HOSTS": "127.0.0.1, fathom.example.org",
    "TRUSTED_ORIGINS": "https://fathom.example.org",
    "PUBLIC_URL": "https://fathom.example.org",
    "PROXIES": "10.0.0.7, 10.1.0.0/16, ::1",
    "AGENT_SERVER_CERTIFICATE": os.fspath(Path(__file__).with_name("certificate.pem")),
    "DATABASE_URL": "postgresql://u:secret@db:5433/fathom",
    "REDIS_URL": "redis://cache:6379/0",
    "WEB_CONNECTIONS": "12",
    "WEB_SOCKETS": "500",
    "WEB_SOCKETS_PER_ADDRESS": "100",
    "WEB_SOCKETS_PER_PERSON": "20",
    "HANG_AFTER": "45",
    "WORKER_MEMORY": "1024",
    "HTTPS": "TRUE",
    "ACCESS_LOG": "off",
    "EMAIL_HOST": "mail.example.org",
    "EMAIL_PORT": "587",
    "EMAIL_USER": "fathom",
    "EMAIL_PASSWORD": "secret",
    "EMAIL_TLS": "STARTTLS",
    "EMAIL_FROM": "fathom@example.org",
    "KEEP_UNDECIDED_DAYS": "3",
    "START_LEAD_S": "0.5",
    "RATE_PER_ADDRESS": "10/1",
    "RATE_PER_TOKEN": "10 / 1",
    "RATE_OF_ANSWER_BYTES": "0",
    "RATE_OF_UPLOADS": "10/1",
    "RATE_OF_FACTS": "10/1",
    "RATE_OF_FACT_BYTES": "10/1",
    "RATE_OF_ENROLMENTS": "10/1",
    "RATE_OF_MAIL_LINKS": "10/1",
    "MAILS_PER_TEAM": "1/hour 2/day",
    "MAILS_PER_PERSON": "1 / hour, 2 / day",
    "MAILS_OF_SERVICE": "0",
    "MAILS_THAT_ASK": "1/hour 2/day",
    "MAIL_DOMAINS": "example.org, KISTI.re.kr",
    "QUOTA_STORED_BYTES": "5 GiB",
    "UPLOAD_MOST": "2 GiB",
    "BODY_MOST_S": "60",
    "CONNECTIONS_PER_ADDRESS": "100",
    **dict.fromkeys(OWNED_LIMITS, "5"),
    "SIGN_IN_FAILURES_PER_ADDRESS": "5",
    "SIGN_IN_FAILURES_PER_NAME": "5",
}
WRONG = {
    "ALLOWED_HOSTS": "http://fathom.example.org",
    "EMAIL_FROM": "fathom",
    "TRUSTED_ORIGINS": "fathom.example.org",
    "PUBLIC_URL": "fathom.example.org",
    "PROXIES": "10.0.0.7, proxy",
    "AGENT_SERVER_CERTIFICATE": "/nowhere/x.pem",
    "DATABASE_URL": "postgresql://u:secret@db:abc/fathom",
    "REDIS_URL": "127.0.0.1:6379",
    "WEB_CONNECTIONS": "2",
    "WEB_SOCKETS": "0",
    "WEB_SOCKETS_PER_ADDRESS": "many",
    "WEB_SOCKETS_PER_PERSON": "-1",
    "HANG_AFTER": "3",
    "WORKER_MEMORY": "64",
    "HTTPS": "maybe",
    "ACCESS_LOG": "sometimes",
    "EMAIL_PORT": "twentyfive",
    "EMAIL_TLS": "tls",
    "KEEP_UNDECIDED_DAYS": "-1",
    "START_LEAD_S": "soon",
    "RATE_PER_ADDRESS": "5",
    "RATE_PER_TOKEN": "abc",
    "RATE_OF_ANSWER_BYTES": "0/60",
    "RATE_OF_UPLOADS": "-1/60",
    "RATE_OF_FACTS": "5/0",
    "RATE_OF_FACT_BYTES": "50 MiB/3600",
    "RATE_OF_ENROLMENTS": "10",
    "RATE_OF_MAIL_LINKS": "many",
    "MAILS_PER_TEAM": "5",
    "MAILS_PER_PERSON": "5/day",
    "MAILS_OF_SERVICE": "0/hour 5/day",
    "MAILS_THAT_ASK": "-1/hour 5/day",
    "MAIL_DOMAINS": "@example.org",
    "QUOTA_STORED_BYTES": "much",
    "UPLOAD_MOST": "large",
    "BODY_MOST_S": "59",
    "CONNECTIONS_PER_ADDRESS": "-1",
    **dict.fromkeys(OWNED_LIMITS, "-1"),
    "SIGN_IN_FAILURES_PER_ADDRESS": "-5",
    "SIGN_IN_FAILURES_PER_NAME": "0",
}
# What may be any text.
ANY = {"FATHOM_VAR", "SECRET_KEY", "EMAIL_HOST", "EMAIL_USER", "EMAIL_PASSWORD"}
# What else is wrong, beside the first of its kind above.
ALSO_WRONG = [
    ("AGENT_SERVER_CERTIFICATE", os.fspath(Path(__file__))),
    ("AGENT_SERVER_CERTIFICATE", sys.executable),
    ("REDIS_URL", "redis://cache:6379/abc"),
    ("REDIS_URL", "unix:///run/redis.sock?db=x"),
    ("ALLOWED_HOSTS", "fathom.example.org:8000"),
    ("EMAIL_PORT", "99999"),
    ("EMAIL_FROM", "Fathom <fathom@>"),
    ("SECRET_KEY", "a"),
]
PRINT = """
from apps.config.settings import production as settings
print(settings.ALLOWED_HOSTS, settings.SESSION_COOKIE_SECURE, settings.EMAIL_USE_TLS, settings.UNDECIDED_DAYS)
"""


def ask(*argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        [sys.executable, *argv], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_each_setting_that_is_read_is_tried_here() -> None:
    files = ("base", "limits", "owned")
    text = "".join((ROOT / f"apps/config/settings/{name}.py").read_text() for name in files)
    ways = (r'environment\.\w+\("([A-Z_]+)"', r'environ\.get\("([A-Z_]+)"', r': \("([A-Z_]+)", "')
    read = set(re.findall("|".join((*ways, r'"([A-Z_]+)": OwnedLimit')), text))
    names = {name for names in read for name in names if name} | {"HTTPS"}
    assert names == RIGHT.keys() == WRONG.keys() | ANY


def test_blanks_and_case_mean_nothing() -> None:
    done = ask("-c", PRINT, **{name: f"  {value} " for name, value in RIGHT.items()})
    assert done.stdout.strip() == "['127.0.0.1', 'fathom.example.org'] True True 3", done.stderr


def test_all_that_is_wrong_is_named_at_once_and_no_password() -> None:
    done = ask("-m", "apps.config.settings", **RIGHT | WRONG)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert sorted(line.partition("=")[0] for line in lines) == sorted(WRONG)
    assert all(re.fullmatch(r"[A-Z_]+=.*: .+\.", line) for line in lines)
    assert "secret" not in done.stderr


@pytest.mark.parametrize(("name", "value"), ALSO_WRONG)
def test_what_would_break_later_is_named_at_the_start(name: str, value: str) -> None:
    done = ask("-m", "apps.config.settings", **RIGHT | {name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(name) and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "unix:///run/redis.sock?db=0"),
        ("REDIS_URL", "rediss://u:p@[::1]"),
        ("ALLOWED_HOSTS", ".example.org,[::1],10.0.0.1,*"),
        ("EMAIL_FROM", "Fathom of KISTI <fathom@localhost>"),
    ],
)
def test_what_is_right_in_other_forms_is_taken(name: str, value: str) -> None:
    assert ask("-m", "apps.config.settings", **RIGHT | {name: value}).returncode == 0


def test_a_command_without_settings_says_what_is_missing(tmp_path: Path) -> None:
    done = ask("manage.py", "check", FATHOM_VAR=str(tmp_path))
    assert (done.returncode, done.stderr.split(" No service")[0].strip()) == (
        1,
        "fathom: SECRET_KEY is missing: give a long random text (`make serve` makes and keeps one).",
    )


@pytest.mark.parametrize("text", ["1", "true", "Yes", " on "])
def test_a_switch_is_on_in_every_usual_word(text: str) -> None:
    assert Environment({"X": text}).flag("X")


def test_each_setting_is_documented_and_each_documented_one_is_read() -> None:
    table = (ROOT / "docs/running.md").read_text().partition("| variable |")[2].partition("\n\n")[0]
    documented = {name for row in table.splitlines() for name in re.findall(r"`([A-Z_]+)`", row.split("|")[1])}
    launcher = "".join((ROOT / "launch" / name).read_text() for name in ("__main__.py", "home.py", "service.py"))
    # What `make` passes on to one of its verbs is no setting of the service.
    own = set(re.findall(r'environ\.get\("([A-Z_]+)"', launcher)) - {"FILE", "LAB", "ONCE"}
    assert documented == RIGHT.keys() | own


@pytest.mark.parametrize(
    ("variables", "trusted"),
    [
        ({}, "[]"),
        ({"HTTPS": "1"}, "['127.0.0.1/32', '::1/128']"),
        ({"PROXIES": "10.1.0.7, 10.1.2.3/16"}, "['10.1.0.7/32', '10.1.0.0/16']"),
        ({"HTTPS": "1", "PROXIES": "10.1.0.7"}, "['10.1.0.7/32']"),
    ],
)
def test_only_a_proxy_that_is_named_is_believed_on_who_asks(variables: dict[str, str], trusted: str) -> None:
    script = "from apps.config.settings import production; print(production.PROXIES)"
    done = ask("-c", script, FATHOM_VAR="/nowhere", SECRET_KEY="s" * 50, **variables)
    assert done.stdout.strip() == trusted, done.stderr
