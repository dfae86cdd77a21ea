"""What somebody has to look at: lost agents, failed and doubtful trials, questions that wait for an answer."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts import queries as accounts
from apps.accounts import quotas, rights
from apps.accounts.models import Role, User
from apps.agents import queries as agents
from apps.agents import troubles
from apps.agents.models import AgentState
from apps.archive.imports import queries as imports
from apps.archive.imports.models import Import
from apps.archive.incoming import queries as archives
from apps.archive.incoming.models import IncomingArchive
from apps.bench import units
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.waits import Waits, moment
from apps.core.messages import render
from apps.results import doubts
from apps.tuning.analysis import queries as analyses

# So many of one kind are named, then only counted.
NAMED = 3
# Of campaigns that run, or ended within this time, the latest so many, failed and doubtful trials are told.
RECENT = timedelta(days=7)
MOST_CAMPAIGNS = 20
# The gravest first: broken, doubtful, a question.
SEVERITIES = ("bad", "wait", "busy")
# From this share of its quota (%) on a team is told.
NEARLY_FULL = 90


@dataclass(frozen=True)
class Need:
    """One thing to look at: `severity` is one of SEVERITIES, `action` what to do at `url`."""

    symbol: str
    severity: str
    title: str
    detail: str
    action: str
    url: str


def needs_of(user: User, waits: Collection[Waits], now: datetime) -> list[Need]:
    """Return what needs the user, the gravest first; `waits` are those of the campaigns that run.

    The number of queries does not depend on how much there is.
    """
    needs = [
        *_lost_agents(user, waits, now),
        *_troubled_agents(user, now),
        *_trials(user, now),
        *_analyses(user),
        *_full_teams(user),
        *_questions(user, now),
    ]
    return sorted(needs, key=lambda need: SEVERITIES.index(need.severity))


def _lost_agents(user: User, waits: Collection[Waits], now: datetime) -> Iterator[Need]:
    held = Counter(
        node
        for item in waits
        for node in {subject.pk for why in item.reasons for subject in why.nodes_to_mend if subject.kind == "node"}
    )
    lost = agents.in_state(agents.agents_with_state(user), AgentState.LOST, now).order_by("-last_seen_at")
    rows = sorted(lost, key=lambda agent: -held[agent.node_id])
    for agent in rows[:NAMED]:
        count = held[agent.node_id]
        yield Need(
            "plug",
            "bad",
            _("Agent on %(node)s lost since %(since)s")
            % {"node": agent.node, "since": moment(agent.last_seen_at) if agent.last_seen_at else "?"},
            ngettext("%(n)s campaign waits for it", "%(n)s campaigns wait for it", count) % {"n": count}
            if count
            else _("no campaign waits for it"),
            _("Open the agent"),
            agent.get_absolute_url(),
        )
    if len(rows) > NAMED:
        more = len(rows) - NAMED
        words = ngettext("%(n)s more agent is lost", "%(n)s more agents are lost", more) % {"n": more}
        url = f"{reverse('agents:list')}?state={AgentState.LOST}"
        yield Need("plug", "bad", words, "", _("Show them"), url)


def _troubled_agents(user: User, now: datetime) -> Iterator[Need]:
    rows = (
        agents.agents_with_state(user)
        .filter(retired_at=None, last_seen_at__gte=now - RECENT)
        .exclude(troubles=[])
        .order_by("-last_seen_at")[:NAMED]
    )
    for agent in rows:
        for trouble in troubles.read(agent.troubles)[:1]:
            yield Need(
                "hdd-stack",
                "bad" if trouble.stops_measuring else "wait",
                render(trouble.words(str(agent.node))),
                render(trouble.remedy),
                _("Open the agent"),
                agent.get_absolute_url(),
            )


def _trials(user: User, now: datetime) -> Iterator[Need]:
    # Of its own teams: what another team measured is for that to look after.
    is_recent = Q(finished_at__gte=now - RECENT) | Q(state__in=Campaign.OPEN_STATES)
    launched = rights.visible(campaigns.campaigns_for(user), user).filter(
        is_recent, launched_at__isnull=False, origin=Campaign.Origin.MEASURED
    )
    rows = list(launched.order_by("-launched_at", "-pk")[:MOST_CAMPAIGNS])
    campaigns.attach_progress(rows)
    doubtful = doubts.doubtful_trials([campaign.pk for campaign in rows])
    failing = [campaign for campaign in rows if campaign.progress.failed]
    for campaign in failing[:NAMED]:
        progress = campaign.progress
        words = ngettext("%(n)s of %(total)s trial failed", "%(n)s of %(total)s trials failed", progress.total)
        yield Need(
            "x-circle",
            "bad",
            words % {"n": f"{progress.failed:,}", "total": f"{progress.total:,}"},
            campaign.name,
            _("Show them"),
            f"{reverse('results:trial_list', args=[campaign.pk])}?state={Trial.State.FAILED}",
        )
    flagged = [campaign for campaign in rows if doubtful.get(campaign.pk)]
    for campaign in flagged[:NAMED]:
        words = ngettext("%(n)s of %(total)s trial is doubtful", "%(n)s of %(total)s trials are doubtful",
                         campaign.progress.total)  # fmt: skip
        yield Need(
            "flag-fill",
            "wait",
            words % {"n": f"{doubtful[campaign.pk]:,}", "total": f"{campaign.progress.total:,}"},
            campaign.name,
            _("Review"),
            f"{reverse('results:trial_list', args=[campaign.pk])}?flagged=1",
        )


def _analyses(user: User) -> Iterator[Need]:
    for standing in [item for item in analyses.unfinished_for(user) if item.can_be_retried][:NAMED]:
        yield Need(
            "lightbulb-off",
            "bad",
            _("The analysis of %(campaign)s failed") % {"campaign": standing.campaign},
            " ".join(render(line) for line in standing.lines),
            _("Open the campaign"),
            standing.campaign.get_absolute_url(),
        )


def _full_teams(user: User) -> Iterator[Need]:
    for team, usage in quotas.usages_of(rights.teams_for(user, Role.VIEWER)).items():
        if usage.percent >= NEARLY_FULL:
            sizes = [units.format_quantity(size, "B") for size in (usage.stored_bytes, usage.quota_bytes)]
            yield Need(
                "database-exclamation",
                "bad" if usage.percent >= 100 else "wait",
                _("%(team)s has %(stored)s of %(quota)s stored")
                % {"team": team, "stored": sizes[0], "quota": sizes[1]},
                _("Over its quota a team launches nothing new."),
                _("Keep less"),
                reverse("retention:rules", args=[team.slug]),
            )


def _questions(user: User, now: datetime) -> Iterator[Need]:
    invited = list(accounts.invitations_to(user.username, now).order_by("-created_at")[:NAMED])
    for invitation in invited:
        words = _("%(team)s invites you") % {"team": invitation.team}
        yield Need("envelope", "busy", words, "", _("Answer"), reverse("accounts:invitations"))
    if campaigns.has_offers(user):
        words = _("Another team offers you a campaign.")
        yield Need("people", "busy", words, "", _("Look at what is offered"), reverse("campaigns:offers"))
    for row in archives.archives_for(user).filter(created_by=user, state=IncomingArchive.State.READY)[:NAMED]:
        words = _("An archive waits for your decision")
        yield Need("archive", "busy", words, row.name, _("Decide"), row.get_absolute_url())
    asking = (Import.State.MAPPING, Import.State.READY)
    for item in imports.imports_for(user).filter(created_by=user, state__in=asking)[:NAMED]:
        words = _("An import waits for you: %(state)s") % {"state": item.get_state_display()}
        yield Need("box-arrow-in-down", "busy", words, str(item), _("Go on"), item.get_absolute_url())
