"""Windows that give themselves away: how much was under way in each RTT, and which kernel's limit that is."""

from apps.bench.text import Message, _

# A rate times RTT within this share of a known window is taken for it.
NEAR = 0.05
# What is measured of a share of a buffer as window: kernels since 2.4 leave three quarters, recent ones less.
KNOWN: tuple[tuple[int, str], ...] = (
    (65_535, _("So much is the largest window without window scaling: 65,535 B (RFC 7323).")),
    (98_304, _("So much is three quarters of a buffer of 128 KiB, 98,304 B: the usual limit of Linux 2.4 and 2.6.")),
    (122_880, _("So much is what recent kernels make of tcp_rmem's 174,760 B of Linux 2.4: 122,880 B.")),
    (131_072, _("So much is three quarters of tcp_rmem's 174,760 B of Linux 2.4, or a limit of 128 KiB: 131,072 B.")),
    (174_760, _("So much is tcp_rmem's limit of Linux 2.4: 174,760 B.")),
    (212_992, _("So much is Linux's usual rmem_max and wmem_max: 212,992 B.")),
    (4_194_304, _("So much is Linux's usual limit of tcp_wmem: 4 MiB.")),
    (6_291_456, _("So much is Linux's usual limit of tcp_rmem: 6 MiB.")),
)


def recognise(window: float) -> Message | None:
    """Return which known window an implied one (B) is, None if none is near."""
    size, text = min(KNOWN, key=lambda entry: abs(window / entry[0] - 1))
    return Message(text) if abs(window / size - 1) <= NEAR else None
