"""Find what is there already, for whoever imports it: imported before, measured here, or sent twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.agents import compression
from apps.agents.models import JobOutput
from apps.archive.imports import checks, grown
from apps.archive.imports.models import Import, ImportItem
from apps.archive.imports.queries import trials_before
from apps.archive.imports.recognition import digest_of
from apps.campaigns.models import Run

_BATCH = 500
# Each as long as an output may be.
_OUTPUTS = 20
# So many bytes of outputs are looked at for one import: what an agent says of their lengths proves nothing.
MOST_UNPACKED = 256 * 1024 * 1024


def mark(imported: Import) -> None:
    """Mark the items of an import that come twice in it, and outputs that are in the team's archive already.

    Whether a table's rows are there already is known with their nodes: see `mark_rows`.
    """
    digests: set[str] = set()
    rows = (
        imported.items.filter(refusal__isnull=True).exclude(digest="").values_list("pk", "digest", "command__bytes")
    )
    first: dict[str, int] = {}
    again: list[int] = []
    sizes: dict[str, int] = {}
    for pk, digest, size in rows:
        if digest in digests:
            again.append(pk)
        else:
            digests.add(digest)
            first[digest] = pk
            if size is not None:
                sizes[digest] = size
    imported.items.filter(pk__in=again).update(is_duplicate=True)
    if imported.kind == Import.Kind.TABLE:
        return
    trials = _imported_before(imported, list(first))
    trials |= _measured_here(imported, {digest: size for digest, size in sizes.items() if digest not in trials})
    changed = [ImportItem(pk=first[digest], is_duplicate=True, trial_id=trial) for digest, trial in trials.items()]
    ImportItem.objects.bulk_update(changed, ["is_duplicate", "trial"], batch_size=_BATCH)


def mark_rows(imported: Import) -> None:
    """Mark the rows of a table, whose nodes were chosen, that were imported before as measured between the same."""
    imported.items.filter(is_duplicate=True, trial__isnull=False).update(is_duplicate=False, trial=None)
    items = list(
        imported.items.filter(refusal__isnull=True, is_duplicate=False).only("source", "digest", "group", "roles")
    )
    rows = ImportItem.objects.filter(
        source__team=imported.team_id,
        digest__in=[item.digest for item in items],
        trial__in=trials_before(imported),
        is_duplicate=False,
    ).values_list("digest", "trial_id", "trial__lane__roles")
    there = {(digest, _cast(roles)): trial for digest, trial, roles in rows}
    changed = []
    for item in items:
        choice = imported.choices[item.group]
        key = (item.digest, _cast(checks.roles_of(item, choice)))
        if choice["include"] and key in there:
            item.is_duplicate, item.trial_id = True, there[key]
            changed.append(item)
    ImportItem.objects.bulk_update(changed, ["is_duplicate", "trial"], batch_size=_BATCH)
    for key, choice in imported.choices.items():
        if choice["include"]:
            _mark_grown(imported, key, choice)


def _mark_grown(imported: Import, group: str, choice: Any) -> None:
    """Mark the rows that an earlier version of a table had, measured between the same nodes."""
    marked: dict[int, ImportItem] = {}
    for item, trial, roles in grown.rows_before(imported, group):
        is_new = item.pk not in marked and not item.is_duplicate
        if is_new and _cast(checks.roles_of(item, choice)) == _cast(roles):
            marked[item.pk] = ImportItem(pk=item.pk, is_duplicate=True, trial_id=trial)
    ImportItem.objects.bulk_update(marked.values(), ["is_duplicate", "trial"], batch_size=_BATCH)


def _cast(roles: Mapping[str, Sequence[int]]) -> str:
    """Return who plays which role, to be told again by."""
    return repr(sorted((role, sorted(members)) for role, members in roles.items() if members))


def _imported_before(imported: Import, digests: list[str]) -> dict[str, int]:
    """Return {digest: trial} of what the team imported before."""
    rows = ImportItem.objects.filter(
        source__team=imported.team_id, digest__in=digests, trial__in=trials_before(imported), is_duplicate=False
    ).values_list("digest", "trial_id")
    return {digest: trial for digest, trial in rows if trial is not None}


def _measured_here(imported: Import, sizes: dict[str, int]) -> dict[str, int]:
    """Return {digest: trial} of what an agent of the team printed; only outputs of the same length are looked at.

    The latest first, and no more than can be looked at soon: one that is not found is imported once more.
    """
    rows = JobOutput.objects.filter(
        stdout_bytes__in=set(sizes.values()), job__node__team=imported.team_id, job__run_ref__isnull=False
    ).values_list("job__run_ref", "stdout_bytes", "stdout_z", "stderr_z")
    runs: dict[str, int] = {}
    left = MOST_UNPACKED
    for run, size, stdout_z, stderr_z in rows.order_by("-pk").iterator(chunk_size=_OUTPUTS):
        stdout = _unpacked(stdout_z, min(size, left))
        stderr = _unpacked(stderr_z, left - len(stdout))
        left -= len(stdout) + len(stderr)
        if left <= 0:
            break
        digest = digest_of(stdout, stderr)
        if digest in sizes and run is not None:
            runs.setdefault(digest, run)
    visible_runs = Run.objects.filter(pk__in=list(runs.values()), trial__in=trials_before(imported))
    trials: dict[int, int] = dict(visible_runs.values_list("pk", "trial_id"))
    return {digest: trials[run] for digest, run in runs.items() if run in trials}


def _unpacked(packed: bytes | memoryview, most: int) -> bytes:
    """Return what was printed, of more than so many bytes the first of them and one part."""
    parts: list[bytes] = []
    for part in compression.unpack_in_parts(packed):
        parts.append(part)
        if sum(map(len, parts)) > most:
            break
    return b"".join(parts)
