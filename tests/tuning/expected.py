"""What the rules must conclude of each published case, and what unmakes it."""

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

Json = dict[str, Any]
MISSING = None


@dataclass(frozen=True)
class Claim:
    """A conclusion: the rule that draws it, its kind, what its title, reasons or limits say, and its value."""

    rule: str
    kind: str
    title: str
    why: str = ""
    value: float | None = None

    def is_made(self, finding: Json) -> bool:
        """Say whether a finding is this conclusion for this reason."""
        reasons = "\n".join((*finding["why"], finding["formula"], *finding["limits"], finding["change"]))
        return (
            (finding["rule"], finding["kind"]) == (self.rule, self.kind)
            and re.search(self.title, finding["title"]) is not None
            and re.search(self.why, reasons, re.DOTALL) is not None
            and (self.value is None or finding["value"] == pytest.approx(self.value, rel=0.01))
        )


@dataclass(frozen=True)
class Expected:
    """What a case must come to; `alternatives` of the first claim, the likeliest first; `broken` unmakes the claims.

    A value of `broken` replaces members of the case's `given` (None takes one away), or is called with a copy of it.
    `only` are the numbers of the claims that it unmakes; all unless given.
    """

    claims: tuple[Claim, ...]
    broken: dict[str, Json | Callable[[Json], object]]
    alternatives: tuple[str, ...] = ()
    only: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)


def measured(default: float | None, tuned: float | None) -> Json:
    """Return the windows of the case with other rates."""
    rates = ({"window": "default", "bit_per_s": default}, {"window_bytes": 1048576, "bit_per_s": tuned})
    return {"measured": [item for item in rates if item["bit_per_s"]]}


def saying(words: str, instead: str = "") -> Callable[[Json], None]:
    """Return what takes words out of a case's conclusion, or puts others there."""

    def change(case: Json) -> None:
        assert words in case["conclusion"]
        case["conclusion"] = case["conclusion"].replace(words, instead)

    return change


def bdp(value: float, why: str = "", *more: Claim) -> tuple[Claim, ...]:
    """Return the claim of a bandwidth-delay product (B)."""
    return (Claim("tcp-bdp", "recommendation", "give one stream a window", why, value), *more)


SYSCTLS = r"(?=.*net.core.rmem_max)(?=.*net.core.wmem_max)(?=.*net.ipv4.tcp_rmem)(?=.*net.ipv4.tcp_wmem)"
NETWORK = {"KGFS": [98e6, 97e6], "KIGFS": [98e6, 96e6], "HEXA": [98e6, 95e6]}

EXPECTED = {
    "bdp-kisti-pnu": Expected(
        bdp(600_000, "W = 2 · BDP = 1,200,000 B", Claim("tcp-sysctl", "recommendation", "limits of", SYSCTLS)),
        {"no RTT": {"rtt_s": MISSING}, "another RTT": {"rtt_s": 0.048}, "a slower line": {"bit_per_s": 1e8}},
        only={"another RTT": (0,), "a slower line": (0,)},
    ),
    "bdp-10ms": Expected(bdp(1_250_000), {"no RTT": {"rtt_s": MISSING}, "another RTT": {"rtt_s": 0.02}}),
    "bdp-knu-koren": Expected(
        bdp(250_000, "only from a window of 1 MiB on, 4.2 times the BDP.*where a sweep of windows starts"),
        {
            "no RTT": {"rtt_s": MISSING},
            "a slower line": {"bit_per_s": 1e8},
            "nothing of a larger window": lambda case: case.pop("note"),
        },
    ),
    "bdp-knu-caltech": Expected(
        bdp(7_740_438, "need window scaling"),
        {"no RTT": {"rtt_s": MISSING}, "no capacity": {"bit_per_s": MISSING}, "a short way": {"rtt_s": 0.0005}},
    ),
    "window-limited": Expected(
        (Claim("tcp-limit", "diagnosis", "The TCP window is the limit", "from there the path is the limit", 96_444),),
        {
            "no default": measured(None, 1e9),
            "no large window": measured(160.74e6, None),
            "the default does as well": measured(940e6, 940e6),
            "a large window gains nothing": measured(160.74e6, 160.74e6),
        },
        # That loss is the limit is ruled out: the larger window had six times the rate on the same path.
        ("policer, or a short queue",),
    ),
    "nfs-after-tuning": Expected(
        (Claim("storage-share-of-disk", "diagnosis", "NFS_PGFS reaches 60 - 70 % .*the disks may be", value=0.648),),
        {
            "no share": {"nfs_share_of_ext3": MISSING},
            "more than the disk": {"nfs_share_of_ext3": [1.2, 1.3]},
            "all of it": {"nfs_share_of_ext3": [0.97, 1.0]},
        },
    ),
    "x4500-storage": Expected(
        (
            Claim(
                "limiting-layer", "diagnosis", "GPFS_X4500 .*itself is the limit", "The disks alone give 500.0 MB/s"
            ),
            Claim("storage-share-of-disk", "diagnosis", "the disks are not its limit", "which it cannot fill", 0.6),
        ),
        {
            "no loss": {"gpfs_loss": MISSING},
            "no disk": {"ext3_B_per_s": MISSING},
            "hardly a loss": {"gpfs_loss": 0.02},
            "a network that is full": {"network_bit_per_s": 2.4e9},
        },
    ),
    "lan-client-saturation": Expected(
        (
            Claim("storage-clients", "diagnosis", r"GPFS_X4500 saturates at 3 clients \(write"),
            Claim("storage-clients", "diagnosis", r"GPFS_X4500 saturates at 2 clients \(read"),
        ),
        {
            "no numbers": {"saturates_at_clients": MISSING},
            "other numbers": {"saturates_at_clients": {"write": 4, "read": 4}},
        },
    ),
    "wan-gpfs-full": Expected(
        (Claim("limiting-layer", "diagnosis", "The network is the limit of GPFS_X4500", "more of them, would gain"),),
        {
            "no rate": {"aggregate_B_per_s": MISSING},
            "a low rate": {"aggregate_B_per_s": 30e6},
            "a wide line": {"bottleneck_bit_per_s": 1e10},
        },
    ),
    "nfs-does-not-scale": Expected(
        (
            Claim("storage-clients", "diagnosis", r"NFS_PGFS falls as clients are added \(write.*parallel file"),
            Claim("storage-clients", "diagnosis", r"NFS_PGFS falls as clients are added \(read.*parallel file"),
        ),
        {
            "no trend": {"trend_with_clients": MISSING},
            "it rises": {"trend_with_clients": "rises"},
            "it is flat": {"trend_with_clients": "flat"},
        },
    ),
    "block-size-insensitive": Expected(
        (
            Claim("storage-record-size", "no-change", r"no effect on GPFS_X4500 \(write"),
            Claim("storage-record-size", "no-change", r"no effect on GPFS_X4500 \(read"),
        ),
        {"no trend": {"trend_with_block_size": MISSING}, "it rises": {"trend_with_block_size": "rises"}},
    ),
    "kigfs-server": Expected(
        (Claim("storage-clients-alike", "no-change", "PDAISY00.*PGFS01.*same rates of GPFS_KIGFS"),),
        {
            "one kind of client": {"PDAISY": MISSING},
            "one is slow": {"PDAISY": {"write": 20e6, "read": 30e6}},
        },
    ),
    "pdaisy-server-polarised": Expected(
        (
            Claim(
                "limiting-layer",
                "diagnosis",
                "fault is inside GPFS_PDAISY.*: at times it gives only 13.00 MB/s",
                "NFS_PGFS",
            ),
        ),
        {
            "one level": {"write_modes_B_per_s": [80e6]},
            "no rates": {"write_modes_B_per_s": MISSING},
            "a slow network": {"network_bit_per_s": NETWORK},
            "a slow disk": {"disk_B_per_s": {"write": 13.5e6, "read": 354e6}},
            "NFS no better": {
                "nfs_B_per_s": {"KGFS": {"write": 12e6, "read": 71e6}, "HEXA": {"write": 12.5e6, "read": 55e6}}
            },
        },
        (
            "One unscaled 64 KiB window: 13 MiB/s · 4.80 ms = 65,431 B",
            "4 round trips for each block of 256 KiB",
            "Loss",
        ),
    ),
    "write-grows-with-tasks": Expected(
        (
            Claim(
                "storage-clients",
                "diagnosis",
                "grows with the tasks .*to nearly all",
                "nearly all of it.*many nodes do I/O",
            ),
            Claim(
                "workload-nodes", "diagnosis", "fit for applications in which many nodes do I/O.*poor where few do"
            ),
        ),
        {
            "no tasks": {"tasks": MISSING},
            "no rate": {"aggregate_write_B_per_s": MISSING},
            "far from the ceiling": {"ceiling_B_per_s": 1e9},
            "no growth": saying("grows with the number of tasks", "is the same for any number of tasks"),
        },
        only={"far from the ceiling": (0,)},
    ),
    "gridftp-streams": Expected(
        (
            Claim(
                "gridftp-parallel", "recommendation", "parallel streams with the tuned window: 25 % or more over one"
            ),
        ),
        {
            "no gain told": {"tuned_parallel_over_tuned_single": MISSING},
            "a loss": {"tuned_parallel_over_tuned_single": 0.9},
            "one stream only": {"streams": [1]},
        },
        ("window was still too small", "process or processor"),
    ),
    "btio": Expected(
        (
            Claim("mpi-file-system-block", "recommendation", "blocks of 1 MiB are better than 512 KiB"),
            Claim("mpi-core-placement", "no-change", "Where in a node the ranks run has no effect"),
            Claim("mpi-node-placement", "recommendation", "BAL is better than UNBAL for BTIO C"),
            Claim("mpi-ranks", "no-change", "Class A gains nothing from more processes"),
        ),
        {
            "no words": lambda case: case.update(conclusion="none"),
            "no factors": {
                "classes": MISSING,
                "gpfs_block_bytes": MISSING,
                "node_placement": MISSING,
                "core_placement": MISSING,
            },
            "the other block": saying("1 MiB blocks beat 512 KiB", "512 KiB blocks beat 1 MiB"),
            "placement matters": saying("has no effect", "has a large effect"),
        },
        only={"the other block": (0,), "placement matters": (1,)},
    ),
    "tachyon-intra": Expected(
        (
            Claim("mpi-affinity", "recommendation", "On Tachyon 2 partners in one socket.*bind processes to cores"),
            Claim("mpi-affinity", "no-change", "On Tachyon 1 .* hardly differ"),
        ),
        {
            "no ratios": {"ratio_t2_over_t1": MISSING},
            "equal ratios": {"ratio_t2_over_t1": {"intra_socket": 2.4, "inter_socket": 2.4}},
            "nothing of Tachyon 1": saying("on Tachyon 1 they hardly do", ""),
        },
        only={"equal ratios": (0,), "nothing of Tachyon 1": (1,)},
    ),
    "tachyon-contention": Expected(
        (Claim("mpi-contention", "no-change", "share their bandwidth evenly: each of N gets max / N"),),
        {"nothing told": {"per_flow": MISSING}, "less than a share": {"per_flow": "max / flows / 2"}},
    ),
    "knu-koren-streams": Expected(
        (Claim("tcp-streams", "no-change", "One stream is enough"),),
        {
            "one stream only": {"five_streams_sum_bit_per_s": MISSING},
            "five gain": {"single_stream_bit_per_s": 300e6},
        },
    ),
    "knu-caltech-udp": Expected(
        (
            Claim("path-capacity", "diagnosis", "400.0 Mbit/s to 457.0 Mbit/s"),
            Claim("path-bottleneck", "diagnosis", r"Genkai XP – Tokyo XP \(622 Mbit/s\), only 457.0 Mbit/s"),
        ),
        {
            "no datagrams": {"loss_at_bit_per_s": MISSING},
            "no dispersion": {"pathrate_bit_per_s": MISSING},
            "no loss": {"loss_at_bit_per_s": {"400e6": 0.0, "450e6": 0.0, "622e6": 0.0}},
        },
        ("fragments", "socket buffer", "policer"),
        only={"no datagrams": (0,), "no loss": (0,)},
    ),
    "knu-caltech-streams": Expected(
        (
            Claim("tcp-per-flow-limit", "diagnosis", "limits each flow to less than 10.00 Mbit/s, not the path"),
            Claim("tcp-streams", "recommendation", "About 50 streams are enough: after that the rate is flat"),
        ),
        {
            "no single stream": {"single_stream_bit_per_s_below": MISSING},
            "no knee": {"linear_until": MISSING},
            "the knee at one": {"linear_until": 1},
            "one stream fills the path": {"single_stream_bit_per_s_below": 600e6},
        },
        (r"A buffer of about 169,375 B", r"Random loss of 1\.1e-04", "shaper or policer"),
        only={"no single stream": (0,), "one stream fills the path": (0,)},
    ),
}
