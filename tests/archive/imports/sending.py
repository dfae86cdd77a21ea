"""Files as people send them, and workers who read them at once."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from apps.archive.imports import services, work
from apps.archive.imports.models import Import
from apps.campaigns.models import Campaign
from tests.bench.tools import recordings

DATA = recordings.DATA


def recording(name: str) -> bytes:
    """Return a recorded output, such as "iperf3-tcp/winsweep_pnu/w1M_cubic_r0.json"."""
    return (Path(DATA) / name).read_bytes()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def send(cast: Any, files: Mapping[str, bytes], kind: str = "outputs", **values: Any) -> Import:
    """Return the import of files that Oscar sent, read as far as it goes without him."""
    sent = [ContentFile(content, name=name) for name, content in files.items()]
    made = services.create_import(team=cast.team, user=cast.oscar, kind=kind, files=sent, **values)
    return advance(made)


def kept_private_from(person: Any, cast: Any) -> Any:
    """Let Oscar keep all campaigns to himself; return the cast in which that person sends instead of him."""
    Campaign.objects.update(visibility=Campaign.Visibility.PRIVATE)
    return replace(cast, oscar=person)


def advance(imported: Import) -> Import:
    """Let a worker do what there is to do."""
    work.advance_import(import_id=imported.pk, now=timezone.now())
    imported.refresh_from_db()
    return imported


def choose(imported: Import, roles: Mapping[str, list[int]], **values: Any) -> Import:
    """Complete every group with the same nodes."""
    groups = {group["key"]: {"roles": roles, **values} for group in imported.groups}
    return services.complete_import(imported=imported, groups=groups)


def store(imported: Import, **values: Any) -> Import:
    """Store what was read."""
    return advance(services.store_import(imported=imported, **values))
