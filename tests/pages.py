"""Pages as a test reads them."""

import re


def flat(html: str) -> str:
    """Return HTML with one space for each run of white space, and none beside a tag."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(html.split()))
