"""Why a job has no process."""

from __future__ import annotations


class CannotStart(Exception):
    """A job without a process: `fault` is the server's word for why, the text the details."""

    def __init__(self, fault: str, detail: str = "") -> None:
        super().__init__(detail)
        self.fault = fault
