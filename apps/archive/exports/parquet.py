"""Parquet of a table, made by a program of its own (`parquet_program`) while the table is read."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import IO

from django.conf import settings

from apps.archive.exports.columns import ExportColumn, as_json
from apps.bench import strict_json
from apps.core import programs

_PIECE = 256 * 1024


class ParquetError(RuntimeError):
    """The program failed; the text is what it said."""


def converted(pieces: Iterable[bytes], columns: Sequence[ExportColumn]) -> Iterator[bytes]:
    """Yield the Parquet of a CSV that comes in pieces; ParquetError if that cannot be.

    outage.Busy if the program is killed: of what was sent by then there is no second attempt.
    """
    argv = [sys.executable, "-m", "apps.archive.exports.parquet_program"]
    # Nothing of the service's own environment is needed: no database, no secrets.
    environment = {"PATH": os.environ.get("PATH", ""), "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=settings.BASE_DIR, env=environment
    ) as program:
        assert program.stdin and program.stdout and program.stderr
        parquet: SimpleQueue[bytes] = SimpleQueue()
        complaints: SimpleQueue[bytes] = SimpleQueue()
        # What it writes is taken at once, or it would wait for its reader and the reader for it.
        readers = [
            threading.Thread(target=_take, args=(stream, queue), daemon=True)
            for stream, queue in ((program.stdout, parquet), (program.stderr, complaints))
        ]
        for reader in readers:
            reader.start()
        try:
            # No word of a command may be so long.
            program.stdin.write(strict_json.dumps(as_json(columns)).encode() + b"\n")
            for piece in pieces:
                program.stdin.write(piece)
                yield from _ready(parquet)
            program.stdin.close()
        except BrokenPipeError:
            pass
        except BaseException:
            program.kill()
            raise
        for reader in readers:
            reader.join()
        yield from _ready(parquet)
        try:
            programs.require_not_lost(program.wait())
        except programs.ProgramLostError as error:
            raise programs.given_up() from error
        if program.returncode:
            raise ParquetError(b"".join(_ready(complaints)).decode(errors="replace")[-2000:])


def _take(stream: IO[bytes], queue: SimpleQueue[bytes]) -> None:
    while piece := stream.read(_PIECE):
        queue.put(piece)


def _ready(queue: SimpleQueue[bytes]) -> Iterator[bytes]:
    while not queue.empty():
        yield queue.get()
