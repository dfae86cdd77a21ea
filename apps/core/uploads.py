"""Files that are sent, on their way to whoever keeps them."""

import contextlib
from typing import Any

from django.core.files.uploadhandler import TemporaryFileUploadHandler


class WholeFileUploadHandler(TemporaryFileUploadHandler):
    """Django's, which removes a file at once that the disk has no room for, and not when garbage is collected."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> Any:
        """Write a piece."""
        with self._removing():
            return super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> Any:
        """Return the file, written to its end."""
        with self._removing():
            return super().file_complete(file_size)

    @contextlib.contextmanager
    def _removing(self) -> Any:
        try:
            yield
        except OSError:
            # It would write the rest first, and fails again; it is removed all the same.
            with contextlib.suppress(OSError):
                self.file.close()
            raise
