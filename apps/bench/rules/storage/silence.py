"""Runs in which nothing was written or read: a fault of server, mount or room, and no rate of the file system."""

from apps.bench.rules import silences
from apps.bench.rules.base import Alternative, Evidence, FindingDraft
from apps.bench.text import Message, _

RULE, VERSION = "storage-silence", 1


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, of each file system, in how many runs a rate was zero."""
    return [_draft(name, silence) for name, silence in silences.of_files(evidence).items()]


def _draft(name: str, silence: silences.Silence) -> FindingDraft:
    params = {**silence.params, "name": name or "?"}
    return silences.draft_of(
        silence,
        (RULE, VERSION),
        Message(
            _("In %(count)s of %(n)s runs on %(name)s nothing was written or read: why is undecided"),
            params,
        ),
        (
            Message(
                _("They are of %(settings)s of %(of)s settings; with %(whole)s of these nothing ever moved."), params
            ),
            Message(_("They count in no mean and on no curve: how it scales, a server that hangs does not tell.")),
        ),
        Message(_("This file system and these clients, as measured.")),
        (
            Alternative(
                Message(_("A server, or the mount of a client, hung.")),
                Message(_("Read the kernels' logs of clients and servers of that time (“not responding”).")),
            ),
            Alternative(
                Message(_("The file system, or a quota on it, was full.")),
                Message(_("Look at df, df -i and the quotas of who measured.")),
            ),
        ),
        (Message(_("The same settings once more, when the cause is known.")),),
        name[:200],
    )
