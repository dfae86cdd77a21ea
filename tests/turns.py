"""Where a web process deals out turns or places."""

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_KINDS = "FairTurns|FairPlaces|WaitingPlaces|Askers|HashingPlaces|Sockets|Crowds|Looks|Room"
_DEALT_OUT = re.compile(rf"\b(?:{_KINDS})\(|^\w+ = Places\(", re.MULTILINE)
# Whoever makes some of these deals them out.
_MAKERS = {"apps/agents/endpoint/places.py", "apps/core/looks.py"}


def files_that_deal_out() -> set[str]:
    """Return the files of the code in which turns are dealt out."""
    paths = (_ROOT / "apps").rglob("*.py")
    files = {str(path.relative_to(_ROOT)) for path in paths if _DEALT_OUT.search(path.read_text(encoding="utf-8"))}
    return files - _MAKERS
