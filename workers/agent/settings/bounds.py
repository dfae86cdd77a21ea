"""Which values settings take: the agent's own word, for some of them could not be put back, whoever asks."""

from __future__ import annotations

import re

from .kernel import MTU, QDISC

_MOST = 2**31 - 1
# One whole number: the least and the largest. Below an MTU of 1280 the kernel takes IPv6 off the interface, addresses
# and all (RFC 8200, section 5).
WHOLE: dict[str, tuple[int, int]] = {
    MTU: (1280, 65536),
    **dict.fromkeys(("net.core.rmem_max", "net.core.rmem_default"), (2304, _MOST)),
    **dict.fromkeys(("net.core.wmem_max", "net.core.wmem_default"), (4608, _MOST)),
    "net.core.netdev_max_backlog": (1, _MOST),
    **dict.fromkeys(("net.ipv4.tcp_limit_output_bytes", "net.ipv4.tcp_notsent_lowat"), (0, _MOST)),
    **dict.fromkeys(
        (
            *("net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack", "net.ipv4.tcp_moderate_rcvbuf"),
            *("net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_slow_start_after_idle"),
        ),
        (0, 1),
    ),
    **dict.fromkeys(("net.ipv4.tcp_timestamps", "net.ipv4.tcp_mtu_probing"), (0, 2)),
    "net.ipv4.tcp_ecn": (0, 5),
    "net.ipv4.ip_no_pmtu_disc": (0, 3),
    "net.ipv4.tcp_adv_win_scale": (-31, 31),
    **dict.fromkeys(("vm.dirty_ratio", "vm.dirty_background_ratio"), (0, 100)),
    "vm.swappiness": (0, 200),
}
# Three whole numbers that do not fall.
TRIPLES = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.udp_mem")
# One plain name.
NAMES = ("net.ipv4.tcp_congestion_control", "net.core.default_qdisc")
QDISCS = ("bfifo", "cake", "codel", "fq", "fq_codel", "netem", "pfifo", "pfifo_fast", "sfq", "tbf")
_NUMBER = re.compile(r"-?[0-9]{1,12}")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def allow(key: str, value: str) -> bool:
    """Say whether a setting may have a value, its words one blank apart; of other keys only the kernel knows."""
    words = value.split()
    if key in WHOLE:
        least, most = WHOLE[key]
        return len(words) == 1 and _are_numbers(words) and least <= int(words[0]) <= most
    if key in TRIPLES:
        steps = list(map(int, words)) if _are_numbers(words) else []
        return len(steps) == 3 and steps == sorted(steps) and steps[0] >= 0 and steps[-1] <= _MOST
    if key in NAMES:
        return len(words) == 1 and _NAME.fullmatch(words[0]) is not None
    return key != QDISC or words[:1] in ([name] for name in QDISCS)


def _are_numbers(words: list[str]) -> bool:
    return all(_NUMBER.fullmatch(word) for word in words)
