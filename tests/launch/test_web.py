"""The process that serves pages and agents."""

import os
import resource
import subprocess
import sys

import pytest

from launch.home import ROOT


def test_it_takes_all_the_descriptors_it_may_have() -> None:
    script = (
        "import resource; from launch import web; web.allow_connections();"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run(
        ["sh", "-c", 'ulimit -Sn 64; exec "$0" -c "$1"', sys.executable, script],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    soft, hard = map(int, done.stdout.split())
    assert soft == hard == resource.getrlimit(resource.RLIMIT_NOFILE)[1]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (
            "127.0.0.1:0",
            "fathom: SECRET_KEY is missing: give a long random text",
        ),
        ("nothing", "fathom: nothing: invalid literal"),
        ("127.0.0.1:99999", "fathom: 127.0.0.1:99999: bind(): port must be 0-65535."),
    ],
)
def test_what_it_cannot_serve_on_or_with_is_told_in_a_line(place: str, words: str) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "SECRET_KEY"}
    environment["DJANGO_SETTINGS_MODULE"] = "apps.config.settings.production"
    argv = [sys.executable, "-m", "launch.web", place]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(words)
