"""The verbs of the Makefile that start Fathom or look at it: python -m launch VERB."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from launch import (
    backup,
    catalogue,
    commands,
    database,
    home,
    last_step,
    ports,
    restore,
    service,
    signals,
    supervisor,
    with_lab,
)
from launch.demo import agents, campaign, rest, run
from launch.embedded import EmbeddedError
from launch.process import ProcessError

# What can go wrong for a reason that the user can mend: told in words, without a traceback.
EXPECTED = (
    home.HomeError,
    ports.PortError,
    EmbeddedError,
    ProcessError,
    commands.ManageError,
    service.SettingsError,
    agents.AgentError,
    campaign.DemoError,
    rest.RestError,
    with_lab.NoLabError,
    backup.BackupError,
    database.DatabaseError,
    restore.RestoreError,
    last_step.LastStepError,
)


def serve() -> int:
    """Start the service and keep it running until Ctrl-C; with the sites of a lab's file if LAB names one."""
    if lab := os.environ.get("LAB", ""):
        return with_lab.serve(Path(lab).resolve(), port=ports.parse(os.environ.get("PORT", "")), binds=binds())
    running = service.Service(home.default_folder(), port=ports.parse(os.environ.get("PORT", "")), binds=binds())
    with signals.stop_on_signals(running.supervisor), running:
        supervisor.print_event("fathom", f"serving at {running.address} (Ctrl-C stops it)")
        for line in running.first_account():
            supervisor.print_event("fathom", line)
        running.home.note_account()
        running.wait()
    supervisor.print_event("fathom", "stopped")
    return 0


def check() -> int:
    """Check the settings and that no migration is missing."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test"}
    results = [
        subprocess.run(
            [sys.executable, "-W", "ignore::RuntimeWarning", "manage.py", *words], cwd=home.ROOT, env=env, check=False
        )
        for words in (["check"], ["makemigrations", "--check", "--dry-run"])
    ]
    return max(result.returncode for result in results)


def messages() -> int:
    """Collect the texts to translate into locale/ko."""
    if catalogue.is_missing():
        print("fathom: GNU gettext is missing (Debian: apt-get install gettext).", file=sys.stderr)
        return 1
    return catalogue.collect(home.ROOT)


def binds() -> list[str]:
    """Return the further addresses to listen at, from BIND (separated by commas)."""
    return [host.strip().strip("[]") for host in os.environ.get("BIND", "").split(",") if host.strip()]


def demo() -> int:
    """Measure the sample campaign and show it; ONCE=1 stops afterwards."""
    return run.run(port=ports.parse(os.environ.get("PORT", "")), once=os.environ.get("ONCE", "") == "1")


def make_backup() -> int:
    """Write a backup, of a service that runs or not, to FILE."""
    with signals.interrupted_by_all():
        backup.make(home.Home(home.default_folder()), Path(os.environ.get("FILE") or backup.usual_name()).absolute())
    return 0


def put_back() -> int:
    """Put the backup FILE in the place of what is there."""
    if not (file := os.environ.get("FILE", "")):
        raise restore.RestoreError("Say which backup: make restore FILE=fathom.backup")
    with signals.interrupted_by_all():
        restore.restore(home.Home(home.default_folder()), Path(file).absolute())
    return 0


VERBS = {
    "serve": serve,
    "demo": demo,
    "check": check,
    "messages": messages,
    "backup": make_backup,
    "restore": put_back,
}


def main(arguments: list[str] | None = None) -> int:
    """Carry out one verb and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m launch", description=__doc__)
    parser.add_argument("verb", choices=sorted(VERBS))
    options = parser.parse_args(arguments)
    try:
        return VERBS[options.verb]()
    except supervisor.Stopped:
        supervisor.print_event("fathom", "stopped before it was done")
        return 130
    except KeyboardInterrupt:
        return 130
    except PermissionError as error:
        if error.filename is None:
            raise
        print(f"fathom: {home.not_ours(error)}", file=sys.stderr)
        return 1
    except EXPECTED as error:
        print(f"fathom: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
