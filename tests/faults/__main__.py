"""Break a whole service in the ways that seeds draw, and say what did not hold: `python -m tests.faults`."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.test")
django.setup()

from tests.faults import kinds, playing, server_clock, small_disks  # noqa: E402
from tests.faults.site import make_pattern  # noqa: E402
from tests.faults.telling import line_of, table_of  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Play the seeds and return the exit status: 1 if anything is wrong."""
    if server_clock.COMPILER is None:
        print(server_clock.WITHOUT, flush=True)
    if not small_disks.MAY_MOUNT:
        print(small_disks.WITHOUT, flush=True)
    options = _parser().parse_args(arguments)
    outcomes: list[playing.Outcome] = []
    with _pattern(options.seeds) as pattern, futures.ThreadPoolExecutor(options.jobs) as pool:
        how = {"pattern": pattern, "keep": options.keep}
        at_work = [
            pool.submit(playing.play, seed, playing.draw_faults(seed, options.only), **how) for seed in options.seeds
        ]
        try:
            for done in futures.as_completed(at_work):
                outcomes.append(done.result())
                print(line_of(outcomes[-1]), flush=True)
        except KeyboardInterrupt:
            # Those at work come to their end, so that they leave nothing behind; no more are begun.
            pool.shutdown(cancel_futures=True)
    print("\n" + table_of(outcomes), flush=True)
    return int(any(outcome.findings for outcome in outcomes))


def seeds_of(text: str) -> list[int]:
    """Return the seeds that a text such as "1-50" or "3,7,20-25" names; ValueError if it names none."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise ValueError(f"{text} names no seed")
    return seeds


@contextmanager
def _pattern(seeds: list[int]) -> Iterator[Path | None]:
    """Give what all sites begin with, if there are several."""
    if len(seeds) < 2:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="fathom-faults-pattern-") as name:
        make_pattern(Path(name))
        yield Path(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seeds", type=seeds_of, default=[1], help="such as 1-50 or 3,7 (default: 1)")
    parser.add_argument("--only", choices=sorted(kinds.registered()), action="append", default=[], metavar="FAULT")
    parser.add_argument("--keep", action="store_true", help="leave the folder of a seed that finds something")
    parser.add_argument("--jobs", type=int, default=1, help="so many seeds at a time (default: 1)")
    return parser


if __name__ == "__main__":
    if not Path("/proc/self/environ").exists():
        sys.exit("tests.faults: faults need Linux, whose /proc tells of processes.")
    sys.exit(main())
