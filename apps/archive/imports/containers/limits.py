"""What an archive may come to, and what is said of one that goes beyond."""

import struct
import tarfile
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass

from apps.bench.text import Message, _

MIB = 1024 * 1024
LONGEST_NAME = 300
# Less than this may be packed as well as it likes: 16 MiB of zeros harm nobody.
HARMLESS = 16 * MIB

# What the standard library raises for data that are no archive, or half of one.
DAMAGES = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    struct.error,
    KeyError,
    # Of tarfile: headers of long names that follow each other.
    RecursionError,
    # Of zipfile: a method of compression that it does not know.
    NotImplementedError,
)
# Names of what file managers add by themselves.
_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True)
class UnpackingLimits:
    """What an archive may come to when it is unpacked; `depth` counts archives within archives."""

    entries: int = 10_000
    total_bytes: int = 1024 * MIB
    entry_bytes: int = 64 * MIB
    ratio: int = 200
    depth: int = 2


@dataclass(frozen=True)
class ContainerEntry:
    """A file: its path within what was sent, and its bytes, or why they were not read."""

    name: str
    content: bytes = b""
    refusal: Message | None = None


class ContainerError(Exception):
    """An archive that is refused as a whole; `code` is one of damaged, bomb, entries, bytes, unsafe."""

    def __init__(self, code: str, message: Message) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")


def printable(name: str) -> str:
    """Return a name as a page can show it: normalised, without control characters, and not too long."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = unicodedata.normalize("NFC", text)
    clean = "".join(char if unicodedata.category(char)[0] != "C" else "\ufffd" for char in text)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[: LONGEST_NAME - 1]}…"


def path_refusal(raw: str, name: str) -> Message | None:
    """Return why a path within an archive is refused, or None; `name` is how it is shown."""
    parts = raw.replace("\\", "/").split("/")
    if raw.startswith(("/", "\\")) or ".." in parts or parts[0][1:2] == ":":
        return Message(_("%(name)s leads out of the archive: pack it from within its folder."), {"name": name})
    if len(raw) > LONGEST_NAME or "\x00" in raw or not raw.strip():
        return Message(_("%(name)s is no usable name: give the file a short one."), {"name": name})
    return None


def is_litter(path: str) -> bool:
    """Return whether a file manager put the file there by itself."""
    name = path.rsplit("/", 1)[-1]
    return path.startswith("__MACOSX/") or name.startswith("._") or name in _LITTER


def link(name: str) -> Message:
    """Return what is said of a link, a device and the like."""
    return Message(_("%(name)s is a link or a device: send the file itself."), {"name": name})


def too_large(limits: UnpackingLimits) -> Message:
    """Return what is said of a file that is too large by itself."""
    text = _("It is larger than %(most)s MiB: an output of that size holds more than one measurement.")
    return Message(text, {"most": limits.entry_bytes // MIB})


def damaged(name: str) -> ContainerError:
    """Return the error of an archive that cannot be read."""
    text = _("%(name)s is damaged or was not sent in full: pack it again.")
    return ContainerError("damaged", Message(text, {"name": printable(name)}))


def bomb(name: str, limits: UnpackingLimits) -> ContainerError:
    """Return the error of an archive that grows as none does that people pack."""
    text = _("%(name)s unpacks to more than %(ratio)s times its size, as only harmful archives do.")
    return ContainerError("bomb", Message(text, {"name": name, "ratio": limits.ratio}))


def too_many_files(name: str, limits: UnpackingLimits) -> ContainerError:
    """Return the error of an archive of too many files."""
    text = _("%(name)s holds more than %(most)s files: send them in parts.")
    return ContainerError("entries", Message(text, {"name": name, "most": limits.entries}))


def too_many_bytes(name: str, limits: UnpackingLimits) -> ContainerError:
    """Return the error of an archive that is too large when it is unpacked."""
    text = _("%(name)s unpacks to more than %(most)s MiB: send it in parts.")
    return ContainerError("bytes", Message(text, {"name": name, "most": limits.total_bytes // MIB}))
