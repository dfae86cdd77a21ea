"""Programs that run whatever text they are given, here or elsewhere: patterns of their names (fnmatch(3))."""

from __future__ import annotations

_SHELLS = ("sh", "bash", "dash", "zsh", "ksh*", "mksh", "csh", "tcsh", "fish", "busybox")
_LANGUAGES: tuple[str, ...] = (
    "perl*",
    "ruby*",
    "lua",
    "lua[0-9]*",
    "luajit",
    "node",
    "nodejs",
    "php*",
    "tclsh*",
    "wish*",
    "expect",
)
_LANGUAGES += ("R", "Rscript", "julia", "java", "guile*", "awk", "gawk", "mawk", "nawk", "gdb")
# A launcher may be told to use these; by themselves they would run a text elsewhere, or here for the way there.
REMOTE = ("ssh", "rsh")
INTERPRETERS = (*_SHELLS, *_LANGUAGES, *REMOTE)
