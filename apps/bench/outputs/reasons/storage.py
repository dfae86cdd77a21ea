"""Why nothing could be written or read, or what was read is not what was written."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

REASONS: dict[str, Reason] = {
    "not-mounted": Reason(
        _("Nothing is mounted at %(path)s on %(node)s: that folder is a part of %(target)s (%(kind)s)."),
        _("Mount the file system, or correct its mount path in the inventory. Nothing was written."),
        False,
    ),
    "mount-hangs": Reason(
        _("The mount at %(path)s on %(node)s does not answer."),
        _("Look whether the servers of the file system are up and can be reached from that node."),
        True,
    ),
    "no-directory": Reason(
        _("There is no file or folder %(path)s on %(node)s."),
        _("Correct the path; create the folder, and let the user of the node's agent write in it."),
        False,
    ),
    "no-space": Reason(
        _("The file system is full on %(node)s: %(said)s"),
        _("Make room, or write smaller files with fewer clients or threads."),
        False,
    ),
    "too-little-room": Reason(
        _("The file system of %(node)s had room for %(free)s bytes, and %(wanted)s were to be written."),
        _("Make room, or write smaller files with fewer clients or threads."),
        False,
        "no-space",
    ),
    "read-only": Reason(
        _("%(node)s cannot write there: the file system is mounted read-only."),
        _("Mount it for writing; file systems are also made read-only by the kernel after an error."),
        False,
    ),
    "no-direct-io": Reason(
        _("The file system on %(node)s takes no direct I/O of this kind: %(said)s"),
        _("Choose a record size that is a multiple of 4 KiB, or measure without direct I/O."),
        False,
    ),
    "input-output-error": Reason(
        _("The file system failed on %(node)s: %(said)s"),
        _("Look into the kernel's log of that node and the logs of the file system's servers."),
        True,
    ),
    "damaged-data": Reason(
        _("What %(node)s read is not what was written: %(said)s"),
        _("This is a fault of the file system or of the hardware: keep the raw output and look for its cause."),
        False,
    ),
    "write-stopped": Reason(
        _("%(node)s could not go on writing: %(said)s"),
        _("Look first whether the file system is full, or a quota used up: the program does not say why."),
        False,
    ),
    "ways-together": Reason(
        _("The program on %(node)s reports what it read and what it wrote as one (%(said)s)."),
        _("Measure without --unified_rw_reporting, or set it to both: what is one is told of neither."),
        False,
        "no-result",
    ),
    "nothing-moved": Reason(
        _("The program on %(node)s reports a rate of zero: %(said)s"),
        _("Use records that are smaller than the file, and files large enough for the clock."),
        False,
        "no-result",
    ),
    "tests-missing": Reason(
        _("The output of the program on %(node)s has no result of: %(missing)s."),
        _("Read the raw output below: the program ended before it had done all."),
        True,
        "no-result",
    ),
}
