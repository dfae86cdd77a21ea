"""How each case of the published figures is read: what its numbers are measurements of, and of whom."""

from collections.abc import Callable

from apps.tuning.published.cases import buffers, diagnosis, file_systems, parallel, streams
from apps.tuning.published.cases.base import CaseReading, PublishedCase

# By the name of the case; a case of another name is reported and left out, for nothing tells whom it measured.
READERS: dict[str, Callable[[PublishedCase], CaseReading]] = {
    "bdp-kisti-pnu": buffers.kisti_pnu,
    "bdp-10ms": buffers.own_pair,
    "bdp-knu-koren": buffers.knu_koren,
    "bdp-knu-caltech": buffers.knu_caltech,
    "window-limited": buffers.window_limited,
    "nfs-after-tuning": file_systems.nfs_after_tuning,
    "x4500-storage": file_systems.x4500_storage,
    "lan-client-saturation": file_systems.lan_client_saturation,
    "wan-gpfs-full": file_systems.wan_gpfs_full,
    "nfs-does-not-scale": file_systems.nfs_does_not_scale,
    "block-size-insensitive": file_systems.block_size_insensitive,
    "kigfs-server": file_systems.kigfs_server,
    "pdaisy-server-polarised": diagnosis.pdaisy_server_polarised,
    "write-grows-with-tasks": diagnosis.write_grows_with_tasks,
    "gridftp-streams": streams.gridftp,
    "btio": parallel.btio,
    "tachyon-intra": parallel.tachyon_intra,
    "tachyon-contention": parallel.tachyon_contention,
    "knu-koren-streams": streams.knu_koren,
    "knu-caltech-udp": streams.knu_caltech_udp,
    "knu-caltech-streams": streams.knu_caltech,
}

__all__ = ["READERS", "CaseReading", "PublishedCase"]
