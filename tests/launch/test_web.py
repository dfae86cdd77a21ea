"""The process that serves pages and agents."""

import resource
import subprocess
import sys

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
