"""Collect the texts to translate into the catalogue, so that a second run changes nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CATALOGUE = Path("locale", "ko", "LC_MESSAGES", "django.po")
_OTHERS = (".venv", "node_modules", "var", "tests", "launch", "lab", "benchmarks", "workers/agent")
_DATE = '"POT-Creation-Date:'
# makemessages as it is, but that msgmerge makes no guesses: a text that is like another is left empty.
_WITHOUT_GUESSES = """
import sys
from django.core.management import ManagementUtility
from django.core.management.commands.makemessages import Command
options = [word for word in Command.msgmerge_options if word != "--previous"]
Command.msgmerge_options = [*options, "--no-fuzzy-matching"]
ManagementUtility(sys.argv).execute()
"""


def is_missing() -> bool:
    """Say whether a program of GNU gettext is missing."""
    return not all(shutil.which(name) for name in ("xgettext", "msgmerge", "msgattrib"))


def collect(root: Path) -> int:
    """Bring the catalogue of the checkout at `root` up to its texts and return the exit status.

    New texts are left empty, those that are in the source no more go, and the order is that of the source.
    """
    catalogue = root / CATALOGUE
    before = catalogue.read_text(encoding="utf-8")
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test"}
    ignored = [word for folder in _OTHERS for word in ("--ignore", f"{folder}/*")]
    options = ["--locale", "ko", "--no-wrap", "--no-location", "--no-obsolete"]
    argv = [sys.executable, "-c", _WITHOUT_GUESSES, "makemessages", *options, *ignored]
    # Without guesses only a percent sign that looks like a placeholder ("0.1 % in") is left as fuzzy.
    clear = ["msgattrib", "--clear-fuzzy", "--no-wrap", "--output-file", str(catalogue), str(catalogue)]
    for command in (argv, clear):
        if status := subprocess.run(command, cwd=root, env=env, check=False).returncode:
            return status
    if _undated(catalogue.read_text(encoding="utf-8")) == _undated(before):
        catalogue.write_text(before, encoding="utf-8")
    return 0


def _undated(text: str) -> list[str]:
    """Return the lines of a catalogue without that which tells when it was collected."""
    return [line for line in text.splitlines() if not line.startswith(_DATE)]
