"""From nothing to a verified finding: steps that tick themselves off."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts import rights
from apps.accounts.models import User
from apps.agents import queries as agents
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from apps.tuning import queries as tuning
from apps.tuning.models import Finding, Verification

# Who has so many finished campaigns needs no guide.
ENOUGH_CAMPAIGNS = 3
# The fewest ends of what is measured between nodes.
ENDS = 2


@dataclass(frozen=True)
class GuideStep:
    """A step of the guide: what to do, what there is of it, and where to do it."""

    title: str
    detail: str
    is_done: bool
    action: str
    url: str


@dataclass(frozen=True)
class Guide:
    """The steps in their order; how many campaigns were `launched` (or have a date), and how many `finished`."""

    steps: list[GuideStep]
    launched: int
    finished: int

    @property
    def done(self) -> int:
        """Return how many steps are done."""
        return sum(step.is_done for step in self.steps)

    @property
    def next_step(self) -> GuideStep | None:
        """Return the first step that is open, None if none is."""
        return next((step for step in self.steps if not step.is_done), None)

    @property
    def is_needed(self) -> bool:
        """Say whether a step is open and not much was measured yet."""
        return self.next_step is not None and self.finished < ENOUGH_CAMPAIGNS

    @property
    def is_first(self) -> bool:
        """Say whether nothing was launched yet: the guide is all that the page has to show."""
        return self.is_needed and not self.launched


def _address(finding: Finding | None) -> str:
    return reverse("tuning:detail", args=[finding.pk]) if finding else reverse("tuning:list")


def guide_for(user: User) -> Guide:
    """Return the guide as far as the user's teams have come, in five queries."""
    nodes = rights.visible(Node.objects.all(), user).count()
    alive = agents.agents_with_state(user).filter(retired_at=None, last_seen_at__isnull=False).count()
    counted = campaigns.counted(campaigns.campaigns_for(user), user).filter(origin=Campaign.Origin.MEASURED)
    rows = counted.exclude(state=Campaign.State.DRAFT).order_by().values("state").annotate(n=Count("pk"))
    states = Counter(dict(rows.values_list("state", "n")))
    finished = states[Campaign.State.FINISHED]
    findings = tuning.listed_for(user).filter(campaign__origin=Campaign.Origin.MEASURED)
    finding = findings.filter(kind=Finding.Kind.RECOMMENDATION).first() or findings.first()
    is_verified = Verification.objects.filter(finding__in=findings.order_by(), gain__isnull=False).exists()
    return Guide(
        [
            GuideStep(
                _("Describe two nodes and the link between them"),
                ngettext("%(n)s node is described.", "%(n)s nodes are described.", nodes) % {"n": nodes},
                nodes >= ENDS,
                _("Inventory"),
                reverse("testbeds:home"),
            ),
            GuideStep(
                _("Enrol an agent on each of them"),
                _("One command to paste on the node; no root needed.")
                + " "
                + ngettext("%(n)s agent has called.", "%(n)s agents have called.", alive) % {"n": alive},
                alive >= ENDS,
                _("Agents"),
                reverse("agents:list"),
            ),
            GuideStep(
                _("Measure the path"),
                _(
                    "Choose a template: RTT, MTU, TCP window, streams, UDP load. It says before the launch what it "
                    "does and how long that takes."
                ),
                finished > 0,
                _("Choose a template"),
                f"{reverse('campaigns:campaign_create')}#templates",
            ),
            GuideStep(
                _("Read the finding"),
                _("What holds the rate back, on which trials that rests, and the lines to paste."),
                finding is not None,
                _("Findings"),
                _address(finding),
            ),
            GuideStep(
                _("Verify it"),
                _("Fathom measures before and after in pairs, and says whether the gain is real."),
                is_verified,
                _("Open the finding"),
                _address(finding),
            ),
        ],
        launched=states.total(),
        finished=finished,
    )
