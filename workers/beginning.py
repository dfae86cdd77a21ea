"""A worker begins with the tables of its code only; loaded by workers alone, for it asks the database."""

from typing import Any

from celery import bootsteps

from apps.core import migrated
from workers import waiting


class AwaitTables(bootsteps.Step):
    """Waits when it is made: before a worker starts its processes, and takes any work."""

    def __init__(self, worker: Any, **options: Any) -> None:
        waiting.until_none(migrated.trouble)
        super().__init__(worker, **options)
