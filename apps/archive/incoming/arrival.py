"""An archive as it arrives: whether it may be one by its size and its first bytes, and where it is kept."""

from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.files import File
from django.utils.translation import gettext

from apps.archive.campaigns import form
from apps.core import space, whole_files

MOST_BYTES = 16 * form.GIB


def require_fit(file: File) -> int:
    """Return the size of what was sent; ValidationError if it is too large, or no zip."""
    if not file.size or file.size > MOST_BYTES:
        text = gettext("Send an archive of at most %(most)s GiB.") % {"most": MOST_BYTES // form.GIB}
        raise ValidationError({"archive": text})
    head = file.read(4)
    file.seek(0)
    if head != b"PK\x03\x04":
        raise ValidationError({"archive": gettext("This is no archive of a campaign: it is no zip.")})
    return file.size


def keep(file: File, path: Path) -> None:
    """Write what was sent, and wait for the disk: the row that names it is there at once."""
    whole_files.make_folder(path.parent, mode=0o700)
    with space.whole(path):
        with path.open("wb") as target:
            for chunk in file.chunks():
                target.write(chunk)
        whole_files.sync(path)
        whole_files.sync(path.parent)
