"""Jobs as pages and REST show them: the heads of what was printed, without what stands packed behind them."""

from django.db.models import BinaryField, F, Func, Prefetch, QuerySet, Value

from apps.agents import compression, queries
from apps.agents.models import Job, JobFile


class PackedHead(Func):
    """So much of a packed column as holds the first `size` bytes of what is packed.

    What cannot be packed is a few bytes in each some thousand longer than it is (RFC 1951, 3.2.4; LZMA2 likewise).
    """

    function = "SUBSTRING"
    output_field = BinaryField()

    def __init__(self, column: str, size: int) -> None:
        super().__init__(F(column), Value(1), Value(size + size // 64 + 1024))


def shown_jobs_of_run(run_ref: int, head_bytes: int = 0) -> QuerySet[Job]:
    """Return a run's jobs as `jobs_of_run`, but of what they printed `stdout_head` and `stderr_head` (packed) alone.

    Of collected files they have names and sizes.
    """
    jobs = queries.jobs_of_run(run_ref).defer("output__stdout_z", "output__stderr_z")
    files = Prefetch("collected", JobFile.objects.defer("content_z"))
    heads = {name: PackedHead(f"output__{name}_z", head_bytes) for name in ("stdout", "stderr")}
    jobs = jobs.prefetch_related(None).prefetch_related(files)
    return jobs.annotate(**{f"{name}_head": head for name, head in heads.items()})


def printed_heads(job: Job, size: int) -> dict[str, bytes]:
    """Return the first `size` bytes of what a job of `shown_jobs_of_run` printed: {"stdout", "stderr"}."""
    packed = {name: getattr(job, f"{name}_head") for name in ("stdout", "stderr")}
    return {name: compression.head(data or b"", size) for name, data in packed.items()}
