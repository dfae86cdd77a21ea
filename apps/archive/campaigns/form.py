"""The form of an archive: its files, its version, and what is said of one that is refused.

    fathom.json         what this is: {"format", "version", "campaign", "name", "made_at", "counts"}
    campaign.json       the campaign, its notes, the people it names, and `names` that are hidden where it is public
    inventory.json      the sites, machines, links and file systems it touches, as an inventory file has them
    tools.json          the tools that teams defined of which it has results
    facts.jsonl         what agents told of nodes when they measured
    experiments.jsonl   the definition: a line an experiment, with its lanes (who played which role)
    trials.jsonl        a line a trial, with its runs and their jobs
    results.jsonl       a line a result, with its samples
    series.jsonl        a line a series of a result
    events.jsonl        the campaign's log
    findings.jsonl      findings, what people decided of them, and their verifications
    reports.jsonl       reports and the list of their editions
    reports/…           an edition's document, of which the edition has the checksum
    raw/…               what each job printed, and the files it gave back
    SHA256SUMS          the SHA-256 of every other file, as `sha256sum --check` reads it

Nothing in it is a number of a database: nodes and the like have their names, people their user names, and trials
their places.
"""

from apps.agents import bounds
from apps.archive.imports.containers import UnpackingLimits
from apps.bench.text import Message
from apps.core import documents
from apps.reports.foreign import MOST_BYTES

FORMAT, VERSION = "fathom-campaign", 1

MANIFEST, CAMPAIGN, INVENTORY, TOOLS = "fathom.json", "campaign.json", "inventory.json", "tools.json"
FACTS, EXPERIMENTS, TRIALS, RESULTS, SERIES = (
    "facts.jsonl",
    "experiments.jsonl",
    "trials.jsonl",
    "results.jsonl",
    "series.jsonl",
)
EVENTS, FINDINGS, REPORTS, SUMS = "events.jsonl", "findings.jsonl", "reports.jsonl", "SHA256SUMS"
NEEDED = (
    MANIFEST, CAMPAIGN, INVENTORY, TOOLS, FACTS, EXPERIMENTS, TRIALS, RESULTS, SERIES, EVENTS, FINDINGS, REPORTS,
    SUMS,
)  # fmt: skip

GIB = 1024**3
# A thousand hours of measuring fit in it; what goes beyond is no campaign.
LIMITS = UnpackingLimits(entries=200_000, total_bytes=64 * GIB, entry_bytes=16 * GIB, ratio=200)
# Of a line (a trial with its runs, a series), of a JSON file, of what one job printed, and of a report (B).
LONGEST_LINE = 64 * 1024 * 1024
LONGEST_JSON = 64 * 1024 * 1024
LONGEST_RAW = bounds.MOST_OUTPUT_BYTES
LONGEST_REPORT = MOST_BYTES
# Of one record; a campaign's frozen report names each of its figures.
_MOST_VALUES = 5_000_000
RECORD_LIMITS = documents.DocumentLimits(most_bytes=LONGEST_JSON, deepest=64, most_values=_MOST_VALUES)
DOCUMENT_LIMITS = documents.DocumentLimits(most_bytes=LONGEST_REPORT, deepest=64, most_values=_MOST_VALUES)


class ArchiveError(Exception):
    """An archive that is refused as a whole; `message` says why and what to do, `code` names the reason."""

    def __init__(self, code: str, message: Message) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")


def wrong(place: str, problem: Message) -> ArchiveError:
    """Return the error of a place in an archive ("trials.jsonl, line 3, state") that is not as it should be."""
    return ArchiveError("wrong", Message("%(place)s: %(problem)s", {"place": place, "problem": problem.as_json()}))
