"""The variables that a job may have in its environment: each by its name, and what each may hold.

A variable's name alone says nothing: of every family some tell the loader, an interpreter or a launcher what to load.
So all that is not listed needs the word of the node's owner.
"""

from __future__ import annotations

import re

from .rules import ADDRESS, NETWORKS, NUMBER, REMOTE_SHELL, TEXT, RefusedOption

FLAG_VALUE, NAMES, INTERFACES = "flag-value", "names", "interfaces"
LONGEST_VALUE = 4096
# What the kinds of this module look like; the others are values like those of options.
_FORMS = {
    FLAG_VALUE: re.compile(r"0|1|true|false|yes|no|on|off|enable|disable", re.IGNORECASE),
    NAMES: re.compile(r"[A-Za-z0-9_]{1,30}(?:[,:;][A-Za-z0-9_]{1,30}){0,20}"),
    INTERFACES: re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,30}(?:,[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,30}){0,50}"),
}
VARIABLES: dict[str, str] = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS", "I_MPI_DEBUG", "MPIR_CVAR_DEBUG_SUMMARY"),
        NUMBER,
    ),
    **dict.fromkeys(
        ("OMP_DYNAMIC", "OMP_NESTED", "OMPI_MCA_mpi_yield_when_idle", "MPIR_CVAR_NOLOCAL", "I_MPI_PIN"), FLAG_VALUE
    ),
    **dict.fromkeys(
        (
            *("OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE", "OMP_WAIT_POLICY", "OMPI_MCA_pml", "OMPI_MCA_btl"),
            *("UCX_TLS", "UCX_LOG_LEVEL", "FI_PROVIDER", "FI_LOG_LEVEL", "I_MPI_FABRICS", "TZ"),
        ),
        NAMES,
    ),
    **dict.fromkeys(("UCX_NET_DEVICES", "FI_TCP_IFACE", "FI_SOCKETS_IFACE", "HYDRA_IFACE"), INTERFACES),
    **dict.fromkeys(("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"), NETWORKS),
    **dict.fromkeys(("OMPI_MCA_plm_rsh_agent", "HYDRA_LAUNCHER_EXEC", "RSH"), REMOTE_SHELL),
    "GLOBUS_HOSTNAME": ADDRESS,
}


def kind_of(name: str, entries: tuple[str, ...]) -> str:
    """Return the kind of a variable's value; RefusedOption for one that nobody allowed.

    `entries` are the owner's: each "NAME", for any text, or "NAME KIND".
    """
    for entry in entries:
        own, _blank, kind = entry.partition(" ")
        if own == name:
            return kind or TEXT
    if name not in VARIABLES:
        raise RefusedOption(name)
    return VARIABLES[name]


def check_form(name: str, value: str, kind: str) -> bool:
    """Say whether the kind is one of this module's own, whose form the value has; RefusedOption if it has not."""
    if "\0" in value or len(value) > LONGEST_VALUE:
        raise RefusedOption(name)
    if kind not in _FORMS:
        return False
    if not _FORMS[kind].fullmatch(value):
        raise RefusedOption(f"{name}={value}")
    return True
