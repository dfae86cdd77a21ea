"""Whether an archive would be larger than any that is read, as far as that is known before it is written."""

from typing import Any

from django.db.models import Case, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Least

from apps.accounts.models import User
from apps.agents.models import Job, JobFile, JobOutput
from apps.archive.campaigns import form
from apps.archive.campaigns.conclusions import editions_of
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign, Run
from apps.core.octets import OctetLength
from apps.testbeds.queries.readers import of_own_nodes


def refusal_of(campaign: Campaign, reader: User | None) -> Message | None:
    """Return why no archive of a campaign for this reader would be read anywhere; None if it may be."""
    runs = Run.objects.filter(trial__campaign=campaign).order_by().values("pk")
    jobs = of_own_nodes(Job.objects.filter(run_ref__in=runs), reader).order_by().values("pk")
    outputs, collected = JobOutput.objects.filter(job__in=jobs), JobFile.objects.filter(job__in=jobs)
    written = [
        _written(outputs, "stdout_z", "stdout_bytes"),
        _written(outputs, "stderr_z", "stderr_bytes"),
        _written(outputs, "telemetry_z"),
        _written(collected, "content_z", "size"),
    ]
    files = sum(number for number, _size in written) + editions_of(campaign, reader).count() + len(form.NEEDED)
    if files > form.LIMITS.entries:
        text = _(
            "The archive would hold more than %(most)s files, and none of so many is read: export the results as "
            "tables, or measure less in one campaign."
        )
        return Message(text, {"most": form.LIMITS.entries})
    if sum(size for _number, size in written) > form.LIMITS.total_bytes:
        text = _(
            "The archive would unpack to more than %(most)s GiB, and none so large is read: export the results as "
            "tables, or measure less in one campaign."
        )
        return Message(text, {"most": form.LIMITS.total_bytes // form.GIB})
    return None


def _written(rows: QuerySet[Any], packed: str, size: str = "") -> tuple[int, int]:
    """Return how many of a job's texts have something in them, and how many bytes they have at least.

    `size` is as an agent told it, and counts also what was cut off.
    """
    there = rows.annotate(length=OctetLength(packed)).filter(Q(length__gt=0), **({f"{size}__gt": 0} if size else {}))
    if not size:
        return there.count(), 0
    size_here = Case(When(cut_on_way=False, then=Least(F(size), F("job__output_limit_bytes"))), default=Value(0))
    return there.count(), int(there.aggregate(sum=Sum(size_here))["sum"] or 0)
