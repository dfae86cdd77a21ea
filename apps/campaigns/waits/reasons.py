"""What a reason to wait is, and how it is said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from apps.bench.text import Message, _
from apps.core import clock, messages, moments

# So many things are named in a sentence.
NAMED = 5
# What the log says of a pause: since when a campaign is paused is read from there.
PAUSED = _("Paused by %(user)s.")
# What it says of a tool that is waited for, and since when it is: that is read from there, too.
TOOL_AWAITED = _(
    "Trials of %(tool)s wait: it came with an archive, and a manager of the team has yet to look at it and take it "
    "over."
)


@dataclass(frozen=True)
class ReasonKind:
    """A kind of reason: its sentence as a msgid, and whether the wait ends by itself within a time one can estimate.

    In the sentence `%(for)s` stands for the names of what is waited for, other names for the wait's own values.
    """

    text: str
    is_bounded: bool = False


# Those that campaigns know by themselves; what keeps a node from measuring brings its own code and sentence
# (`apps.testbeds.obstacles`).
REASONS = {
    "paused": ReasonKind(_("paused by %(user)s")),
    "tool": ReasonKind(
        _("waiting for a manager of the team to take over the tool %(for)s, which came with an archive")
    ),
    "scheduled": ReasonKind(_("waiting for its start"), is_bounded=True),
    "stage": ReasonKind(_("waiting for the experiment “%(for)s” to end"), is_bounded=True),
    "reserved": ReasonKind(_("waiting for %(for)s, in use by the campaign “%(holder)s”")),
    "reserved-other-team": ReasonKind(_("waiting for %(for)s, in use by another team's measurement")),
    "reserved-private": ReasonKind(_("waiting for %(for)s, in use by a private measurement of the team")),
    "in-use": ReasonKind(_("waiting for %(for)s, in use by trial %(trial)s of this campaign"), is_bounded=True),
    "fenced": ReasonKind(_("waiting for %(for)s, which a lost measurement may still use"), is_bounded=True),
    "queue": ReasonKind(_("waiting for its turn on these nodes; trials before it: %(ahead)s"), is_bounded=True),
    "retry": ReasonKind(_("waiting to be tried again"), is_bounded=True),
    "broker": ReasonKind(_("waiting for the message broker, which takes no work (%(words)s)")),
    "database": ReasonKind(_("waiting for the database, whose disk is full")),
    "due": ReasonKind(_("due: it begins as soon as a worker takes it up"), is_bounded=True),
}
_SINCE = _("%(reason)s since %(since)s")
_UNTIL = _("%(reason)s until %(until)s")
_HEARD = _("%(reason)s (last heard %(heard)s)")
_MORE = _("%(names)s and %(count)s more")


@dataclass(frozen=True)
class WaitSubject:
    """What is waited for: a node, link, file system, experiment or tool; of a node, when its agent was heard last."""

    kind: str
    pk: int
    name: str
    heard_at: datetime | None = None


@dataclass(frozen=True)
class WaitReason:
    """Why a trial, or so many `trials` of a campaign, wait.

    `since` is when the wait began, unless a clock that was ahead wrote it, and `until` when it ends by itself, as far
    as that is known. `campaign` is who holds what is waited for, if the reader may see it.
    """

    code: str
    text_id: str
    subjects: tuple[WaitSubject, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    campaign: int | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    trials: int = 0
    is_bounded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "since", clock.past(self.since))

    @property
    def text(self) -> str:
        """Return the reason as a sentence in the reader's language and time zone, without a full stop."""
        message: Message = Message(self.text_id, {"for": self.names, **self.values})
        if self.since:
            message = Message(_SINCE, {"reason": message.as_json(), "since": moment(self.since)})
        if self.until:
            message = Message(_UNTIL, {"reason": message.as_json(), "until": moment(self.until)})
        heard = [subject.heard_at for subject in self.subjects]
        if len(heard) == 1 and heard[0]:
            message = Message(_HEARD, {"reason": message.as_json(), "heard": moment(heard[0])})
        return messages.render(message)

    @property
    def nodes_to_mend(self) -> tuple[WaitSubject, ...]:
        """Return the nodes, the first of many, whose agents somebody has to look after; none for other reasons."""
        # What campaigns know by themselves is no agent's.
        return () if self.code in REASONS else self.subjects[:NAMED]

    @property
    def names(self) -> str:
        """Return the names of what is waited for, the first of many."""
        names = ", ".join(subject.name for subject in self.subjects[:NAMED])
        more = len(self.subjects) - NAMED
        return messages.render(Message(_MORE, {"names": names, "count": more})) if more > 0 else names


@dataclass(frozen=True)
class Waits:
    """What a campaign waits for, the most weighty first; `is_idle` if nothing of it is under way meanwhile."""

    reasons: tuple[WaitReason, ...] = ()
    is_idle: bool = False

    @property
    def foremost(self) -> WaitReason | None:
        """Return the most weighty reason, None if there is none."""
        return self.reasons[0] if self.reasons else None

    @property
    def is_stuck(self) -> bool:
        """Return whether nothing goes on before something happens that has no known end."""
        return self.is_idle and any(not reason.is_bounded for reason in self.reasons)

    @property
    def has_known_end(self) -> bool:
        """Return whether one can say how long all will take."""
        return all(reason.is_bounded for reason in self.reasons)


def reason(
    code: str,
    *,
    subjects: tuple[WaitSubject, ...] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    campaign: int | None = None,
    **values: object,
) -> WaitReason:
    """Return a reason of a kind that campaigns know by themselves; `values` stand in its sentence."""
    kind = REASONS[code]
    return WaitReason(code, kind.text, subjects, since, until, campaign, values=values, is_bounded=kind.is_bounded)


def moment(at: datetime) -> str:
    """Return a time in the reader's zone, with the date unless it is today's."""
    local = moments.local(at)
    today = timezone.localtime().date() == local.date()
    return f"{local:%H:%M %Z}" if today else f"{local:%Y-%m-%d %H:%M %Z}"
